package stats

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
)

// A LayerTime is where the time of a layer goes on a device.
type LayerTime struct {
	Name, Backend, Device string
	Under                 string // their inputs and load, "" where both go without saying
	Mode                  results.Mode
	Parts                 []PartTime // those that have rows, in the layer's order
	Missing               int        // parts without a time
	Seconds, Roof         float64    // of all parts that have a time

	last int // summary of a part
}

// A PartTime is one part at its fastest kernel; the vendor's own way is no kernel.
type PartTime struct {
	results.LayerUse
	Best    *Summary       // nil if none has a time
	Status  results.Status // of the last kernel without one
	Seconds float64        // of all Times
	Roof    float64        // the longer of what its FLOPs take at the peak and its bytes, each once, at the bandwidth, likewise
}

// Bound is what the roof is: memory, or products.
func (p PartTime) Bound() string {
	if p.Best.leastSeconds() > p.Best.byteSeconds() {
		return "products"
	}
	return "memory"
}

// Mark is Noisy before figures of the part that are of low confidence, "" before others.
func (p PartTime) Mark() string {
	return words.When(p.Best != nil && p.Best.LowConfidence, Noisy)
}

// Mark is that of figures of all parts.
func (l LayerTime) Mark() string {
	return cmp.Or(each.Of(l.Parts, PartTime.Mark)...)
}

// LayersOf adds up the layers that summaries say they are parts of, each for each device
// and mode, in the order in which they are complete: that of their sweep, in which a part
// of two layers comes with the first.
func LayersOf(summaries []Summary) []LayerTime {
	var list []LayerTime
	for i := range summaries {
		s := &summaries[i]
		if s.Kernel == results.Baseline {
			continue
		}
		uses, _ := s.Uses() // a row that is read has been checked
		for _, u := range uses {
			at := slices.IndexFunc(list, func(l LayerTime) bool {
				return l.Name == u.Layer && l.Backend == s.Backend && l.Device == s.Device && l.Mode == s.Mode && l.Under == s.Under()
			})
			if at < 0 {
				at = len(list)
				list = append(list, LayerTime{Name: u.Layer, Backend: s.Backend, Device: s.Device, Mode: s.Mode, Under: s.Under(), Missing: u.Parts})
			}
			list[at].add(u, s)
			list[at].last = i
		}
	}
	slices.SortStableFunc(list, func(a, b LayerTime) int { return a.last - b.last })
	for i := range list {
		list[i].sum()
	}
	return list
}

func (l *LayerTime) add(u results.LayerUse, s *Summary) {
	at := slices.IndexFunc(l.Parts, func(p PartTime) bool { return p.Part == u.Part })
	if at < 0 {
		at = len(l.Parts)
		l.Parts = append(l.Parts, PartTime{LayerUse: u})
	}
	p := &l.Parts[at]
	if s.usable() && (p.Best == nil || s.Time.Median < p.Best.Time.Median) {
		p.Best = s
	}
	if !s.usable() {
		p.Status = s.Status
	}
}

func (l *LayerTime) sum() {
	slices.SortFunc(l.Parts, func(a, b PartTime) int { return a.Part - b.Part })
	for i := range l.Parts {
		p := &l.Parts[i]
		if p.Best == nil {
			continue
		}
		p.Seconds, p.Roof = float64(p.Times)*p.Best.Time.Median, float64(p.Times)*p.Best.leastSeconds()
		l.Seconds, l.Roof = l.Seconds+p.Seconds, l.Roof+p.Roof
		l.Missing--
	}
}

// WriteLayers tells, for each layer and device of summaries, where its time goes: each part
// at its fastest kernel, with its part of the whole, and how far it is from its roof. Parts
// that nothing was measured of leave the sum below the layer's, which is said.
func WriteLayers(w io.Writer, summaries []Summary) error {
	for _, l := range LayersOf(summaries) {
		if err := l.write(w); err != nil {
			return err
		}
	}
	return nil
}

func (l LayerTime) write(w io.Writer) error {
	if l.Seconds == 0 {
		return nil
	}
	fmt.Fprintln(w, words.Joined(" · ", l.Name, l.Device, string(l.Mode), l.Under))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "  part\tkernel\ttimes\ttime\tof the layer\tof its roof\tbound by\t")
	for _, p := range l.Parts {
		if p.Best == nil {
			fmt.Fprintf(t, "  %s\t–\t%d\t–\t–\t–\t–\t\n", p.Name, p.Times)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s%s\t%.1f %%\t%s%.0f %%\t%s\t\n", p.Name, p.Best.FamilyName()+"/"+p.Best.Kernel, p.Times,
			p.Mark(), FormatSeconds(p.Seconds), 100*p.Seconds/l.Seconds, p.Mark(), 100*p.Roof/p.Seconds, p.Bound())
	}
	fmt.Fprintf(t, "  all\t\t\t%s%s\t\t%s%.0f %%\t\t\n", l.Mark(), FormatSeconds(l.Seconds), l.Mark(), 100*l.Roof/l.Seconds)
	if err := t.Flush(); err != nil {
		return err
	}
	if l.Missing > 0 {
		fmt.Fprintf(w, "note: %d of %d parts have no time: their rows, where there are any, say why, and the sum is without them\n", l.Missing, l.Parts[0].Parts)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// byteSeconds is how long the least bytes take at the device's bandwidth; 0 if that is not known.
func (s *Summary) byteSeconds() float64 {
	if s.Bandwidth == 0 {
		return 0
	}
	return float64(s.BytesMin) / s.Bandwidth
}

// leastSeconds is the roof as a time: what FLOPs take at the peak, or bytes at the bandwidth.
func (s *Summary) leastSeconds() float64 {
	least := s.byteSeconds()
	if s.PeakFLOPs > 0 {
		least = max(least, float64(s.FLOPs)/s.PeakFLOPs)
	}
	return least
}
