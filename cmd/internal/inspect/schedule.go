package inspect

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/xla/aot"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/lower/mosaic"
	"matladder/model"
	"matladder/model/traverse"
	"matladder/stats"
)

// lowered writes the text that a TPU's compiler takes: each kernel as Mosaic, or the
// StableHLO program that calls them.
func (o *options) lowered(w io.Writer) error {
	launch, err := mosaic.Lower(o.programs, mosaic.Options{})
	if err != nil {
		return err
	}
	texts := []string{launch.Module()}
	if o.as == "mosaic" {
		texts = each.Of(launch.Kernels, func(k mosaic.Kernel) string { return k.Body })
	}
	for _, text := range texts {
		fmt.Fprintln(w, strings.TrimRight(text, "\n"))
	}
	return nil
}

// compileLimit is how long libtpu may take.
const compileLimit = 5 * time.Minute

// explain compiles the kernel for a TPU that need not be there, and hands on what the
// compiler made of it.
func (o *options) explain(ctx context.Context, use func(*aot.Backend, []aot.Explained) error) (err error) {
	if o.program != "" || o.wrong != nil {
		return o.kernelsOn(ctx, o.topology, true, func(b *aot.Backend, list []aot.Kernel) error {
			told := each.That(list, func(k aot.Kernel) bool { return k.Schedule != nil && k.Unsupported == "" })
			parts := each.Of(told, func(k aot.Kernel) aot.Explained { return k.Explained })
			if len(parts) == 0 {
				return fmt.Errorf("%s: the compiler tells no schedule of its kernels", o.name)
			}
			return use(b, parts)
		})
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: o.topology, Options: aot.Options{Limit: compileLimit}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	parts, err := b.Explain(ctx, o.programs, backend.Params{})
	if err != nil {
		return err
	}
	return use(b, parts)
}

// schedule writes where the cycles of a grid step go.
func (o *options) schedule(ctx context.Context, w io.Writer) error {
	return o.explain(ctx, func(b *aot.Backend, parts []aot.Explained) error {
		r := report{options: o, backend: b, parts: parts, seconds: each.Sum(parts, secondsOf)}
		if o.format == "csv" {
			return r.csv(w)
		}
		return r.text(w)
	})
}

// report is a launch as the compiler laid it out.
type report struct {
	*options
	backend *aot.Backend
	parts   []aot.Explained
	seconds float64 // of the launch
}

func secondsOf(p aot.Explained) float64 { return p.Time.Seconds }

// barWidth is that of a bar of text that is full.
const barWidth = 40

func (r report) text(w io.Writer) error {
	var b strings.Builder
	name, version := r.backend.Plugin()
	fmt.Fprintf(&b, "%s on %s, predicted from the schedule of %s %s\n", r.title(), r.device.CommonName(), name, version)
	for _, p := range r.parts {
		r.step(&b, p)
		r.units(&b, p)
	}
	r.total(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// step writes what one grid step takes, part by part.
func (r report) step(b *strings.Builder, p aot.Explained) {
	t := p.Time
	cores := words.When(p.Work.CoreSteps < p.Work.Steps, " on each core, %d in all", p.Work.Steps)
	fmt.Fprintf(b, "\n%s: %s%s, %s each\n", r.short(p.Kernel), words.Count(t.Steps, "grid step"), cores, stats.FormatSeconds(t.Step))
	longest := max(t.Compute, t.Transfer, t.Overhead)
	line := func(name string, seconds float64, note string) {
		fmt.Fprintf(b, "  %-9s %-*s %s  %s\n", name, barWidth, bar(seconds/longest), stats.FormatSeconds(seconds), note)
	}
	line("compute", t.Compute, r.computeNote(p))
	if p.Time.Steps > 1 {
		line("HBM", t.Transfer, fmt.Sprintf("%s a step on average, while another step computes", traverse.Bytes(p.Work.Bytes/max(1, p.Work.Steps))))
	} else {
		line("HBM", t.Transfer, "there is no other step to hide a copy behind")
	}
	line("overhead", t.Overhead, "of every step")
	fmt.Fprintf(b, "  before the first step and after the last, %s that nothing hides\n", stats.FormatSeconds(t.Edges))
}

// computeNote compares a step's cycles with what its products take at the peak.
func (r report) computeNote(p aot.Explained) string {
	cycles := p.Work.Cycles / r.device.ClockHertz.Value
	if cycles < p.Time.Compute {
		return fmt.Sprintf("the products at the peak; %.0f cycles issue them in %s", p.Work.Cycles, stats.FormatSeconds(cycles))
	}
	return fmt.Sprintf("%.0f cycles at %.2f GHz", p.Work.Cycles, r.device.ClockHertz.Value/1e9)
}

// shown are the kinds of slots of a report.
var shown = []struct {
	kind schedule.Kind
	name string
}{
	{schedule.Matrix, "matrix"}, {schedule.Weights, "weights"}, {schedule.Pop, "results"},
	{schedule.Load, "load"}, {schedule.Store, "store"}, {schedule.Vector, "vector"}, {schedule.Scalar, "scalar"},
}

// span is what a step computes: the body of the loop over the grid, or all.
func span(s *schedule.Schedule) schedule.Span {
	if body, ok := s.Body(); ok {
		return body.Span
	}
	return schedule.Span{From: 0, To: s.Bundles}
}

// units writes how full each unit is along a step.
func (r report) units(b *strings.Builder, p aot.Explained) {
	s := p.Schedule
	in := span(s)
	n := len(s.Conditional())
	fmt.Fprintf(b, "  slots in use along the %d bundles of a step%s\n", in.Len(), words.When(n > 0, ", %s included that only some steps run", words.Count(n, "region")))
	for _, u := range shown {
		along := s.Along(u.kind, in, barWidth)
		fmt.Fprintf(b, "  %-9s %-*s %5.1f %%\n", u.name, barWidth, sparks(along), 100*mean(along))
	}
	spills, fills := s.Busy(schedule.Spill, in), s.Busy(schedule.Fill, in)
	fmt.Fprintf(b, "  spills    %d vector registers stored for want of room, %d loaded again\n", spills, fills)
}

// total writes the launch as a whole, and what limits its longest kernel.
func (r report) total(b *strings.Builder) {
	main := slices.MaxFunc(r.parts, func(a, b aot.Explained) int { return cmp.Compare(secondsOf(a), secondsOf(b)) })
	peak, of := r.backend.Peak(r.dtype.String(), r.precision.String())
	fmt.Fprintf(b, "\nlimit: %s\nlaunch: %s predicted", r.limit(main), stats.FormatSeconds(r.seconds))
	r.writeRate(b, r.seconds, peak, of)
	b.WriteString("\n")
}

// nearPeak is how many times as long as its products at the peak a step may take and
// still be said to be limited by them.
const nearPeak = 1.05

// limit says in words what holds a kernel back.
func (r report) limit(p aot.Explained) string {
	t := p.Time
	products := float64(p.Work.FLOPs) / float64(p.Work.Steps)
	intensity := float64(p.Work.FLOPs) / float64(p.Work.Bytes)
	if t.Edges > t.Seconds-t.Edges {
		return fmt.Sprintf("copies that nothing hides. Of %s, %s pass before the first step can start and after the last has ended. More and smaller steps overlap copies with products.",
			stats.FormatSeconds(t.Seconds), stats.FormatSeconds(t.Edges))
	}
	switch t.Limit {
	case model.Overhead:
		return fmt.Sprintf("step overhead. A step costs %s before it does anything, and computes for %s only; there are %d of them. Larger blocks mean fewer steps.",
			stats.FormatSeconds(t.Overhead), stats.FormatSeconds(t.Compute), t.Steps)
	case model.Memory:
		s := fmt.Sprintf("HBM. Moving a step's blocks takes %s, computing with them %s: %.0f FLOPs for each byte moved", stats.FormatSeconds(t.Transfer), stats.FormatSeconds(t.Compute), intensity)
		if ridge, ok := r.device.Ridge(r.dtype.String()); ok {
			s += fmt.Sprintf(", and the chip needs %.0f", ridge)
		}
		return s + ". Larger blocks of o move fewer bytes."
	case model.Schedule:
		if t.Compute < nearPeak*r.atPeak(p) {
			break
		}
		s := fmt.Sprintf("the schedule. A step issues %.0f cycles, and its %.3g FLOPs would take %s at the peak instead of %s", p.Work.Cycles, products, stats.FormatSeconds(r.atPeak(p)), stats.FormatSeconds(t.Compute))
		if n := p.Schedule.Busy(schedule.Spill, span(p.Schedule)); n > 0 {
			s += fmt.Sprintf("; %d registers spill", n)
		}
		if t.Compute < 4*t.Overhead {
			return s + ". The blocks are small: filling and emptying the matrix unit is most of a step."
		}
		return s + ". What the matrix unit waits for are loads, stores and the accumulator's pass through VMEM."
	}
	s := fmt.Sprintf("compute. The products of a step take %s at the peak", stats.FormatSeconds(t.Compute))
	if t.Limit == model.Schedule {
		s = fmt.Sprintf("compute. The products of a step would take %s at the peak, its cycles take %s", stats.FormatSeconds(r.atPeak(p)), stats.FormatSeconds(t.Compute))
	}
	if t.Transfer > 0 {
		s += fmt.Sprintf("; HBM is busy for %.0f %% of that time, and being shared it costs %s more", 100*t.Transfer/t.Compute, stats.FormatSeconds(t.Step-t.Overhead-t.Compute))
	}
	return s + "."
}

// atPeak is how long a step's products take at the peak of one core.
func (r report) atPeak(p aot.Explained) float64 {
	peak, _ := r.backend.Peak(r.dtype.String(), r.precision.String())
	return float64(p.Work.FLOPs) / float64(p.Work.Steps) / (peak.Value / float64(max(1, r.device.Cores)))
}

// csv writes the same as a table: one line a kernel and quantity.
func (r report) csv(w io.Writer) error {
	t := csv.NewWriter(w)
	t.Write([]string{"kernel", "quantity", "value"})
	for _, p := range r.parts {
		in := span(p.Schedule)
		row := func(name string, value any) { t.Write([]string{p.Kernel, name, fmt.Sprint(value)}) }
		row("steps", p.Time.Steps)
		row("cycles_a_step", p.Work.Cycles)
		row("compute_seconds", p.Time.Compute)
		row("transfer_seconds", p.Time.Transfer)
		row("overhead_seconds", p.Time.Overhead)
		row("step_seconds", p.Time.Step)
		row("edges_seconds", p.Time.Edges)
		row("seconds", p.Time.Seconds)
		row("limit", p.Time.Limit)
		row("bundles", in.Len())
		for _, u := range shown {
			row(u.name+"_slots", p.Schedule.Busy(u.kind, in))
		}
		row("spills", p.Schedule.Busy(schedule.Spill, in))
		row("fills", p.Schedule.Busy(schedule.Fill, in))
	}
	t.Flush()
	return t.Error()
}

// short is what a kernel is called: of a program of XLA numbers tell kernels apart.
func (o *options) short(kernel string) string {
	if o.program != "" {
		return kernel
	}
	return baseName(kernel)
}

// baseName is a kernel's name without the number that the compiler adds.
func baseName(kernel string) string {
	name, number, ok := strings.Cut(kernel, ".")
	if !ok || strings.Trim(number, "0123456789") != "" {
		return kernel
	}
	return name
}

// bar is a bar of text for a part from 0 to 1, in eighths of a character.
func bar(part float64) string {
	eighths := int(part*barWidth*8 + 0.5)
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}

// sparks is a row of parts from 0 to 1, a character each.
func sparks(parts []float64) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, p := range parts {
		level := min(8, int(p*8+0.5))
		if level == 0 && p > 0 {
			level = 1
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}

func mean(parts []float64) float64 {
	return each.Sum(parts, func(p float64) float64 { return p }) / float64(max(1, len(parts)))
}
