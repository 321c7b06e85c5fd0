package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/plots"
	"matladder/results"
	"matladder/stats"
)

// points is what the page knows: lists that points refer to by number, and the
// points in columns, which is a third of the size of a list of objects.
type points struct {
	Sections []section `json:"sections"`
	Kernels  []kernel  `json:"kernels"`
	Sizes    []size    `json:"sizes"`
	Texts    []string  `json:"texts"`

	// One entry a point, in the order of the ladder's table. Numbers refer to the lists above.
	Section       []int   `json:"section"`
	Kernel        []int   `json:"kernel"`
	Size          []int   `json:"size"`
	Predicted     []int   `json:"predicted"` // 0 or 1
	Best          []int   `json:"best"`      // 1: the fastest of its choices of blocks and parameters
	Variant       []int   `json:"variant"`   // texts from here
	Blocks        []int   `json:"blocks"`
	Params        []int   `json:"params"`
	How           []int   `json:"how"` // what else it ran with
	Run           []int   `json:"run"`
	Spread        []int   `json:"spread"`
	Below         []int   `json:"below"`
	Status        []int   `json:"status"`
	Reason        []int   `json:"reason"`
	Rate          numbers `json:"rate"` // in the section's unit, with its interval
	Lo            numbers `json:"lo"`
	Hi            numbers `json:"hi"`
	Seconds       numbers `json:"seconds"`
	Peak          numbers `json:"peak"`      // % of peak
	Baseline      numbers `json:"baseline"`  // % of baseline
	Over          numbers `json:"over"`      // × the rung below
	Bound         numbers `json:"bound"`     // err/bound
	Error         numbers `json:"error"`     // rel_err
	Intensity     numbers `json:"intensity"` // work over bytes moved
	LowConfidence []int   `json:"rough"`     // which figures are not to be relied on: the sum of lowConfidenceTime, …
}

// Figures of a point that are not to be relied on, added up in LowConfidence; data.js has the same.
const (
	lowConfidenceTime = 1 << iota
	lowConfidenceRate
	lowConfidencePeak
	lowConfidenceBaseline
	lowConfidenceOver
)

// section is what a chart shows together: rates that have one unit, on one machine.
type section struct {
	Dtype     string  `json:"dtype"` // with quantization and epilogue
	Machine   string  `json:"machine"`
	Unit      string  `json:"unit"`      // of rates, without a prefix: FLOP/s
	Shape     string  `json:"shape"`     // names of sizes: m×k×n
	Roof      string  `json:"roof"`      // what peak is: peak, or bandwidth
	Peak      float64 `json:"peak"`      // of rates; 0 if unknown
	Bandwidth float64 `json:"bandwidth"` // bytes/s; 0 if unknown
}

type kernel struct {
	Name   string `json:"name"`
	Short  string `json:"short"`
	Colour string `json:"colour"`
	Ink    string `json:"ink"` // the colour, dark enough for text
}

type size struct {
	Name   string `json:"name"`
	Square int    `json:"square"` // of all sizes equal, else 0
}

// numbers is a column of figures; NaN stands for unknown and becomes null.
type numbers []float64

func (f numbers) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, v := range f {
		if i > 0 {
			text = append(text, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			text = append(text, "null"...)
			continue
		}
		text = strconv.AppendFloat(text, v, 'g', 6, 64)
	}
	return append(text, ']'), nil
}

func newPoints(summaries []stats.Summary) *points {
	summaries = slices.Clone(summaries)
	best := map[results.Pos]bool{}
	for _, s := range stats.Best(summaries) {
		best[s.Pos] = true
	}
	p := &points{}
	var texts, sections, kernels, order numbering
	slices.SortStableFunc(summaries, func(a, b stats.Summary) int {
		return cmp.Or(
			strings.Compare(a.DtypeA, b.DtypeA),
			strings.Compare(dtypeOf(&a), dtypeOf(&b)),
			strings.Compare(machineOf(&a), machineOf(&b)),
			results.CompareSizes(&a.Record, &b.Record),
			compareKernels(a.Kernel, b.Kernel),
			a.StartedAt.Compare(b.StartedAt), // of a point made twice a chart shows the last
		)
	})
	bySize := slices.Clone(summaries)
	slices.SortStableFunc(bySize, func(a, b stats.Summary) int { return results.CompareSizes(&a.Record, &b.Record) })
	bySize = slices.CompactFunc(bySize, func(a, b stats.Summary) bool { return a.Size() == b.Size() })
	for _, s := range bySize {
		order.of(s.Size())
		z := size{Name: s.Size()}
		z.Square, _ = s.Square()
		p.Sizes = append(p.Sizes, z)
	}
	names := each.Of(summaries, func(s stats.Summary) string { return s.Kernel })
	slices.SortFunc(names, compareKernels)
	for _, name := range slices.Compact(names) {
		kernels.of(name)
		short := name
		if _, ok := stats.Rung(name); ok {
			short, _, _ = strings.Cut(name, "_")
		}
		line, text := plots.KernelColors(name)
		p.Kernels = append(p.Kernels, kernel{name, short, hex(line), hex(text)})
	}
	var roofs []roof
	for i := range summaries {
		s := &summaries[i]
		key := dtypeOf(s) + "\x00" + machineOf(s)
		n := sections.of(key)
		if n == len(p.Sections) {
			p.Sections = append(p.Sections, section{Dtype: dtypeOf(s), Machine: machineOf(s), Unit: s.RateOf().PerSecond(), Shape: s.SizeNames("×"), Roof: s.RoofName()})
			roofs = append(roofs, roof{})
		}
		roofs[n].state(s)
		p.Section = append(p.Section, n)
		p.Kernel = append(p.Kernel, kernels.of(s.Kernel))
		p.Size = append(p.Size, order.of(s.Size()))
		p.Predicted = append(p.Predicted, one(s.Mode == results.Predicted))
		p.Best = append(p.Best, one(best[s.Pos]))
		p.addTexts(s, texts.of)
		p.addFigures(s)
	}
	for i, r := range roofs {
		p.Sections[i].Peak, p.Sections[i].Bandwidth = r.peak, r.bandwidth
	}
	p.Texts = texts.list
	return p
}

func (p *points) addTexts(s *stats.Summary, of func(string) int) {
	p.Variant = append(p.Variant, of(s.Variant))
	p.Blocks = append(p.Blocks, of(s.Blocks()))
	p.Params = append(p.Params, of(s.Params))
	p.How = append(p.How, of(howOf(s)))
	p.Run = append(p.Run, of(s.RunID))
	p.Spread = append(p.Spread, of(s.SpreadCell()))
	below, _, _ := strings.Cut(s.Below, "_")
	p.Below = append(p.Below, of(below))
	p.Status = append(p.Status, of(string(s.Status)))
	p.Reason = append(p.Reason, of(s.Reason))
}

func (p *points) addFigures(s *stats.Summary) {
	unknown := math.NaN()
	known := func(v float64, known bool) float64 {
		if !known {
			return unknown
		}
		return v
	}
	median := func(e stats.Estimate) float64 { return known(e.Median, e.Known()) }
	intensity := unknown
	if s.FLOPs > 0 && s.BytesMoved > 0 && s.Kernel != results.Baseline {
		intensity = s.Work() / float64(s.BytesMoved)
	}
	p.Rate = append(p.Rate, median(s.Rate))
	p.Lo, p.Hi = append(p.Lo, known(s.Rate.Lo, s.Rate.Known())), append(p.Hi, known(s.Rate.Hi, s.Rate.Known()))
	p.Seconds = append(p.Seconds, median(s.Time))
	p.Peak = append(p.Peak, median(s.PercentOfPeak))
	p.Baseline = append(p.Baseline, median(s.PercentOfBaseline))
	p.Over = append(p.Over, median(s.OverBelow))
	p.Bound = append(p.Bound, known(s.ErrOverBound.Value, s.ErrOverBound.Known))
	p.Error = append(p.Error, known(s.RelErr.Value, s.RelErr.Known))
	p.Intensity = append(p.Intensity, intensity)
	lowConfidence := 0
	for i, e := range []stats.Estimate{s.Time, s.Rate, s.PercentOfPeak, s.PercentOfBaseline, s.OverBelow} {
		if e.Known() && !e.Holds() {
			lowConfidence |= lowConfidenceTime << i
		}
	}
	p.LowConfidence = append(p.LowConfidence, lowConfidence)
}

// numbering gives each text a number, from 0 in the order of first use.
type numbering struct {
	number map[string]int
	list   []string
}

func (n *numbering) of(text string) int {
	if n.number == nil {
		n.number = map[string]int{}
	}
	i, ok := n.number[text]
	if !ok {
		i = len(n.list)
		n.number[text], n.list = i, append(n.list, text)
	}
	return i
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
