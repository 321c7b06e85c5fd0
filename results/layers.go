package results

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Layer is one layer of a model as the problems that it is made of.
type Layer struct {
	Name  string
	Parts []LayerPart
}

// LayerPart is a problem of a layer, and how often the layer has it.
type LayerPart struct {
	Name  string
	Times int
	Of    Record // of the problem: its family, its shape, and what is asked
}

// WriteLayers tells, for each layer and device of summaries, where its time goes: each part
// at its fastest kernel, with its part of the whole, and how far it is from its roof, the
// longer of the times that its FLOPs take at the peak and its bytes, each once, at the
// bandwidth. Parts that nothing was measured of leave the sum below the layer's, which is said.
func WriteLayers(w io.Writer, layers []Layer, summaries []Summary) error {
	for _, on := range machinesOf(summaries) {
		for _, l := range layers {
			if err := l.write(w, on, summaries); err != nil {
				return err
			}
		}
	}
	return nil
}

// machine is what layers are told of by themselves: a device and a mode.
type machine struct{ backend, device, mode string }

func machineOf(s *Summary) machine { return machine{s.Backend, s.Device, string(s.Mode)} }

func machinesOf(summaries []Summary) (list []machine) {
	seen := map[machine]bool{}
	for i := range summaries {
		if m := machineOf(&summaries[i]); !seen[m] {
			seen[m] = true
			list = append(list, m)
		}
	}
	return list
}

func (l Layer) write(w io.Writer, on machine, summaries []Summary) error {
	type line struct {
		part       LayerPart
		best       *Summary
		time, roof float64 // seconds, of all times
	}
	var lines []line
	whole, roofs, missing := 0., 0., 0
	for _, p := range l.Parts {
		x := line{part: p, best: p.fastest(on, summaries)}
		if x.best == nil {
			missing++
		} else {
			times := float64(p.Times)
			x.time = times * x.best.Time.Median
			x.roof = times * x.best.leastSeconds()
			whole, roofs = whole+x.time, roofs+x.roof
		}
		lines = append(lines, x)
	}
	if missing == len(lines) {
		return nil
	}
	fmt.Fprintf(w, "%s · %s · %s\n", l.Name, on.device, on.mode)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "  part\tkernel\ttimes\ttime\tof the layer\tof its roof\tbound by\t")
	for _, x := range lines {
		if x.best == nil {
			fmt.Fprintf(t, "  %s\t–\t%d\t–\t–\t–\t–\t\n", x.part.Name, x.part.Times)
			continue
		}
		rough := ""
		if x.best.Rough {
			rough = "~"
		}
		bound := "memory"
		if x.best.leastSeconds() > x.best.byteSeconds() {
			bound = "products"
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s%s\t%.1f %%\t%s%.0f %%\t%s\t\n", x.part.Name, x.best.Family+"/"+x.best.Kernel, x.part.Times,
			rough, microseconds(x.time), 100*x.time/whole, rough, 100*x.roof/x.time, bound)
	}
	fmt.Fprintf(t, "  all\t\t\t%s\t\t%.0f %%\t\t\n", microseconds(whole), 100*roofs/whole)
	if err := t.Flush(); err != nil {
		return err
	}
	if missing > 0 {
		fmt.Fprintf(w, "note: %d of %d parts have no time: their rows above say why, and the sum is without them\n", missing, len(lines))
	}
	_, err := fmt.Fprintln(w)
	return err
}

// fastest is the summary of the kernel that took the least time for the part; nil if none
// has a time. The vendor's own way is no kernel.
func (p LayerPart) fastest(on machine, summaries []Summary) (best *Summary) {
	for i := range summaries {
		s := &summaries[i]
		same := s.Family == p.Of.Family && s.Shape == p.Of.Shape && s.Product() == p.Of.Product()
		if same && machineOf(s) == on && s.usable() && s.Kernel != Baseline && (best == nil || s.Time.Median < best.Time.Median) {
			best = s
		}
	}
	return best
}

// byteSeconds is how long the least bytes take at the device's bandwidth; 0 if that is not
// known.
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

func microseconds(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(100 * time.Nanosecond).String()
}
