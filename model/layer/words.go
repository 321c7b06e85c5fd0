package layer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/machine/mesh"
)

// Words say why the first plan is the first, and why others fall behind: one sentence or
// two on each line.
func (f Found) Words() []string {
	if len(f.Plans) == 0 {
		return nil
	}
	first := f.Plans[0]
	var lines []string
	if !first.Fits {
		least := slices.MinFunc(f.Plans, func(p, q Plan) int { return cmp.Compare(p.Memory.Total(), q.Memory.Total()) })
		return append(lines, fmt.Sprintf("None fits: of %s memory, %s needs %s for each device, and that is the least. %s",
			Bytes(int64(f.Ask.Chip.MemoryBytes.Value)), least, Bytes(least.Memory.Total()), f.Ask.Layer.most(least)))
	}
	lines = append(lines, fmt.Sprintf("%s is predicted to take least, %s a layer: %s.", first, Seconds(first.Time.Seconds), f.parts(first)))
	lines = append(lines, f.rules(first)...)
	if len(f.Plans) > 1 && f.Plans[1].Fits {
		lines = append(lines, "Next, "+f.Plans[1].String()+": "+behind(f.Plans[1], first)+".")
	}
	if n := overlapping(f.Plans); n > 1 {
		lines = append(lines, fmt.Sprintf("The bands of the first %d overlap: which of them is the fastest is not certain.", n))
	}
	if t := f.TooBig; t != nil && t.Time.Seconds < first.Time.Seconds {
		lines = append(lines, fmt.Sprintf("%s would take %s, but a device needs %s and has %s: %s", t, Seconds(t.Time.Seconds),
			Bytes(t.Memory.Total()), Bytes(int64(f.Ask.Chip.MemoryBytes.Value)), f.Ask.Layer.most(*t)))
	}
	return lines
}

// overlapping is how many plans, from the first on, may be faster than the first.
func overlapping(plans []Plan) int {
	n := 1
	for n < len(plans) && plans[n].Fits && plans[n].Time.Least < plans[0].Time.Most {
		n++
	}
	return n
}

// most says what takes most of a plan's memory.
func (l Layer) most(p Plan) string {
	m := p.Memory
	for _, part := range []struct {
		bytes int64
		what  string
	}{
		{m.Weights, "the weights"}, {m.Training, "gradients and Adam's moments"},
		{m.Activations, "activations that the backward pass needs"}, {m.Cache, "keys and values"}, {m.Working, "what one layer has in hand"},
	} {
		if part.bytes == max(m.Weights, m.Training, m.Activations, m.Cache, m.Working) {
			return fmt.Sprintf("%s of it are %s.", Bytes(part.bytes), part.what)
		}
	}
	return ""
}

// parts says what a plan's time consists of.
func (f Found) parts(p Plan) string {
	unit := "its matrix unit"
	if p.mxu <= p.hbm {
		unit = "its memory"
	}
	text := fmt.Sprintf("a device computes for %s, bound by %s", Seconds(p.Compute.Seconds), unit)
	reasons := p.reasons()
	if len(reasons) == 0 {
		return text + ", and nothing is sent"
	}
	longest := each.Of(reasons[:min(3, len(reasons))], func(r reason) string { return Seconds(r.seconds) + " for " + r.what })
	return text + fmt.Sprintf(", and %s are on the wire: %s", Seconds(p.Wire.Seconds), strings.Join(longest, ", "))
}

// A reason is why a plan sends for so long.
type reason struct {
	what    string
	seconds float64
}

// add adds to the seconds of one of list, or a reason of its own.
func (r reason) add(list []reason) []reason {
	if i := slices.IndexFunc(list, func(l reason) bool { return l.what == r.what }); i >= 0 {
		list[i].seconds += r.seconds
		return list
	}
	return append(list, r)
}

// reasons are those of a plan, the longest first.
func (p Plan) reasons() []reason {
	var list []reason
	for _, x := range p.Exchanges {
		list = reason{x.What + " along " + along(p.Mesh, x.Axes), x.Wire.Seconds}.add(list)
	}
	longestFirst(list)
	return list
}

func longestFirst(list []reason) {
	slices.SortStableFunc(list, func(a, b reason) int { return cmp.Compare(b.seconds, a.seconds) })
}

// along names the axes that have more than one device.
func along(m mesh.Mesh, axes []string) string {
	axes = slices.DeleteFunc(slices.Clone(axes), func(axis string) bool { return m.Size(axis) == 1 })
	return strings.Join(axes, " and ")
}

// behind says what makes a plan slower than another.
func behind(p, first Plan) string {
	if p.Time.Seconds-first.Time.Seconds < 0.0005*first.Time.Seconds {
		return "as fast, with " + Bytes(p.Memory.Total()) + " of memory where the first needs " + Bytes(first.Memory.Total())
	}
	list := []reason{{"computing", p.Compute.Seconds - first.Compute.Seconds}} // what takes longer, or less long
	for _, x := range p.Exchanges {                                            // whatever the axes that are gone along
		list = reason{x.What, x.Wire.Seconds}.add(list)
	}
	for _, x := range first.Exchanges {
		list = reason{x.What, -x.Wire.Seconds}.add(list)
	}
	longestFirst(list)
	worst, bestOf := list[0], list[len(list)-1]
	text := fmt.Sprintf("%s more, since %s takes %s longer", Seconds(p.Time.Seconds-first.Time.Seconds), worst.what, Seconds(worst.seconds))
	if -bestOf.seconds > 0.1*worst.seconds {
		text += fmt.Sprintf(" while %s takes %s less", bestOf.what, Seconds(-bestOf.seconds))
	}
	return text
}

// rules hold a plan to the rules of thumb that say when a layer is bound by the wire
// (jax-ml/scaling-book, training.md): C is the peak of a device in FLOP/s, W what it sends
// along an axis in bytes/s.
func (f Found) rules(p Plan) []string {
	var lines []string
	c := f.Ask.Chip.PacedPeak("bfloat16", "").Value
	verdict := func(has, needs float64) string {
		if has >= needs {
			return "enough"
		}
		return "too few"
	}
	l := f.Ask.Layer
	if axes := []string{mesh.Data, mesh.Context}; p.Weights == Gathered && p.Mesh.Size(axes...) > 1 {
		// 2 bytes a weight / W against 2 FLOPs a weight and row / C
		rows := float64(p.tokens*l.Chosen) / float64(l.Experts/p.Mesh.Size(mesh.Expert))
		needs := c / p.at.Bandwidth(axes...)
		lines = append(lines, fmt.Sprintf("Weights gathered along %s take as long as multiplying by them at C/W = %.0f rows of a device for each weight; here it has %.0f, %s.",
			along(p.Mesh, axes), needs, rows, verdict(rows, needs)))
	}
	if n := p.Mesh.Size(mesh.Model); n > 1 && p.Weights != Stationary {
		// 2 × 2 bytes of D columns in and out / W against 3 × 2 FLOPs of D × F/model / C
		columns, needs := float64(l.Hidden)/float64(n), 2./3*c/p.at.Bandwidth(mesh.Model)
		if p.Mesh.Size(mesh.Expert) == 1 {
			columns *= float64(l.Chosen)
		}
		lines = append(lines, fmt.Sprintf("Activations along model take as long as the feed-forward products at ⅔·C/W = %.0f hidden columns of a device; here it has %.0f, %s.",
			needs, columns, verdict(columns, needs)))
	}
	return lines
}

// Short is a mesh without the axes that have one device.
func Short(m mesh.Mesh) string {
	some := slices.DeleteFunc(slices.Clone(m), func(a mesh.Axis) bool { return a.Size == 1 })
	if len(some) == 0 {
		return "one device"
	}
	return some.String()
}

// Seconds is a time for people.
func Seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// Bytes is an amount of memory for people.
func Bytes(n int64) string { return fmt.Sprintf("%.3g GiB", float64(n)/(1<<30)) }
