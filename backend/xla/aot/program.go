package aot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/backend/xla/aot/schedule"
	"matladder/lower/stablehlo"
	"matladder/model"
)

// foreign is what a dump tells of a program that somebody else wrote, beside schedules.
type foreign struct {
	Times  map[string]int    // that a launch runs an instruction, where not once; 0 if unknown
	Loops  error             // why that is unknown
	Unread map[string]string // kernels whose schedule is not read, and why
	Texts  []string          // of kernels that the program brings along, as Mosaic
}

// foreignOf reads the dump.
func foreignOf(dump fs.FS, times map[string]int, loops error) (foreign, error) {
	f := foreign{Times: times, Loops: loops, Unread: map[string]string{}}
	files, err := fs.Glob(dump, "*-post-deserialization.txt")
	for _, file := range files {
		text, err := fs.ReadFile(dump, file)
		if err != nil {
			return f, fmt.Errorf("schedule dump: %w", err)
		}
		if !slices.Contains(f.Texts, string(text)) {
			f.Texts = append(f.Texts, string(text))
		}
	}
	return f, err
}

// call is one kernel of such a program, or what it copies meanwhile.
type call struct {
	Name, Schedule      string // of an instruction, and of the kernel that it runs
	Products, Precision string // what it multiplies; "" for nothing
	Bundles, Trips      int
	VMEM                int64
	Ahead               bool // a transfer that runs while kernels do
	At, Until           int  // where it stands among the instructions, and where a transfer has to be done
	Times               int  // that a launch runs it
	Likely, Least, Most model.Work
	Unsupported         string // why no more is known than the least
	Note                string // what makes its band wide
}

// Kernel is one kernel of a program that somebody else wrote, predicted.
type Kernel struct {
	Explained          // Schedule is nil if the outcome was known, and of copies
	Products    string // dtype of the factors of its first product; "" without products
	Bundles     int    // of its schedule
	Trips       int    // of the loop over its grid, 0 without
	Times       int    // that a launch runs it
	VMEM        int64  // bytes that it takes for itself
	LeastBytes  int64  // of main memory that it cannot do without
	Unsupported string // why its time is unknown: Step then has the least that its bytes take
	Note        string // why its band is wide
}

// Program compiles a StableHLO program, text or bytecode, unless it is known what libtpu makes of
// it, and predicts its kernels in order; with anew it compiles in any case, so that there are
// schedules. Errors are those of Compile. The backend has to be opened with Options.Foreign.
//
// What instructions and schedules tell is exact: kernels, products, bundles, trips. Bytes are
// between each array once and each block in every step; XLA's notes and the text of a kernel of
// Mosaic say more. Conditions hold always in the most and never in the least. Copies that run
// meanwhile are hidden as far as kernels leave the memory free; the least hides them wholly.
func (b *Backend) Program(ctx context.Context, text string, anew bool) ([]Kernel, error) {
	list, _, err := b.program(ctx, text, nil, anew)
	return list, err
}

// predictProgram predicts a program that computes a problem. One of which a kernel is
// unsupported is.
func (b *Backend) predictProgram(ctx context.Context, spec backend.ProblemSpec) (none backend.Prediction, err error) {
	launch, err := stablehlo.Solution(spec.Program, spec.Problem)
	if err != nil {
		return none, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	limit, err := libtpu.VMEMLimit(spec.Params.VMEMBytes)
	if err != nil {
		return none, fmt.Errorf("aot: %w", err)
	}
	if b, err = b.foreign(); err != nil {
		return none, err
	}
	kernels, signature, err := b.program(ctx, spec.Program, limit, false)
	if err != nil {
		return none, err
	}
	if err := signature.Fits(launch); err != nil {
		return none, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	for _, k := range kernels {
		if k.Unsupported != "" {
			return none, fmt.Errorf("%w: kernel %s: %s", backend.ErrUnsupported, k.Kernel, k.Unsupported)
		}
	}
	return b.Sum(kernels), nil
}

// program is Program, and what the program takes and returns.
func (b *Backend) program(ctx context.Context, text string, options hlo.Options, anew bool) (all []Kernel, s stablehlo.Signature, err error) {
	var schedules []*schedule.Schedule
	outcome, err := b.compileAs(ctx, "program of any kind, with its signature\n", text, options, anew, func(c *Compiled, m *hlo.Module, o *outcome) (err error) {
		schedules = c.Schedules
		o.In, o.Out = m.Signature()
		o.Calls, err = b.calls(m, c.Schedules, c.foreign)
		return err
	})
	if err != nil {
		return nil, s, err
	}
	s.In, s.Out = outcome.In, outcome.Out
	free := make([]float64, len(outcome.Calls)) // seconds in which a kernel leaves the memory free
	for n, c := range outcome.Calls {
		if c.Ahead {
			continue
		}
		step, err := b.step(c.Name, c.Likely, c.Least, c.Most, c.Products, c.Precision)
		if err != nil {
			return nil, s, err
		}
		if c.Unsupported == "" {
			free[n] = float64(step.Time.Steps) * max(0, step.Time.Compute-step.Time.Transfer)
		}
		k := Kernel{Explained{Step: step}, c.Products, c.Bundles, c.Trips, c.Times, c.VMEM, c.Least.Bytes, c.Unsupported, c.Note}
		if i := slices.IndexFunc(schedules, func(s *schedule.Schedule) bool { return s.Kernel == c.Schedule }); i >= 0 {
			k.Schedule = schedules[i]
		}
		all = append(all, k)
	}
	ahead := Kernel{Explained: Explained{Step: Step{Kernel: "copies meanwhile", Time: model.Time{Limit: model.Memory}}}}
	for _, c := range outcome.Calls {
		if !c.Ahead {
			continue
		}
		step, err := b.step(c.Name, c.Likely, c.Likely, c.Likely, "", "")
		if err != nil {
			return nil, s, err
		}
		waits := step.Time.Edges
		for n, k := range outcome.Calls {
			if k.At > c.At && (k.At < c.Until || c.Until == 0) {
				hidden := min(waits, free[n])
				waits, free[n] = waits-hidden, free[n]-hidden
			}
		}
		ahead.Work.Bytes += c.Likely.Bytes
		ahead.Time.Seconds += waits
		ahead.Most += step.Most
	}
	if ahead.LeastBytes = ahead.Work.Bytes; ahead.LeastBytes > 0 {
		ahead.Note = "hidden as far as the kernels that run until they are needed leave the memory free"
		all = append(all, ahead)
	}
	return all, s, nil
}

// Sum is one launch of kernels, as Predict has it; of those that are unsupported it has the least.
func (b *Backend) Sum(kernels []Kernel) backend.Prediction {
	var steps []Step
	for _, k := range kernels {
		steps = append(steps, k.Step)
	}
	return b.sum(steps)
}

// calls puts instructions, schedules and texts together.
func (b *Backend) calls(m *hlo.Module, schedules []*schedule.Schedule, f *foreign) ([]call, error) {
	kernels := m.Kernels()
	byName, twins := map[string]*schedule.Schedule{}, map[string]*schedule.Schedule{}
	for _, s := range schedules {
		byName[s.Kernel] = s
	}
	for _, k := range kernels {
		if s := byName[k.Name]; s != nil {
			twins[k.Twin] = s
		}
	}
	// A transfer for the next launch, which that finds done, hides behind all kernels.
	between := map[string]bool{}
	for _, k := range kernels {
		if k.Earlier && len(k.Operands) > 0 {
			between[k.Operands[0]] = true
		}
	}
	var calls []call
	for n, k := range kernels {
		c := call{At: n, Until: k.Until, Name: k.Name, Products: k.Products, VMEM: vmemOf(k.Config), Ahead: k.Ahead}
		times, ok := f.Times[k.Name]
		if !ok {
			times = 1
		}
		s := byName[k.Name]
		if s == nil {
			s = twins[k.Twin]
		}
		switch {
		case k.Ahead && k.Opcode != "copy-start" && k.Opcode != "async-start" && k.Opcode != "slice-start":
			c.Ahead, c.Unsupported = false, k.Opcode+": chips exchange data, which needs --mesh"
		case k.Earlier:
			continue
		case k.Ahead && len(k.Operands) > 0 && between[k.Operands[0]]:
			c.At, c.Until = -1, 0
		case k.Ahead:
		case s != nil:
			if err := b.read(&c, k, s, f.Texts); err != nil {
				c.Unsupported = err.Error()
			}
		case f.Unread[k.Name] != "":
			c.Unsupported = f.Unread[k.Name]
		case k.Bytes <= 64 || k.Opcode == "custom-call" && k.Bytes == 0: // of the program around the kernels
			continue
		default:
			c.Unsupported = "the compiler tells no schedule of this " + k.Opcode
		}
		if times == 0 {
			times, c.Unsupported = 1, f.Loops.Error()
		}
		if c.Unsupported != "" || c.Ahead {
			w := model.Work{Steps: 1, Bytes: k.Bytes, FirstBytes: k.Bytes, FLOPs: k.FLOPs}
			c.Likely, c.Least, c.Most = w, w, w
		}
		c.Times = times
		for _, w := range []*model.Work{&c.Likely, &c.Least, &c.Most} {
			repeat(w, int64(times))
		}
		if k.Maybe {
			c.Least, c.Note = model.Work{Steps: 1}, "in a branch that data decides: the least is without it"
		}
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		return nil, errors.New("the program runs no kernel")
	}
	return calls, nil
}

// repeat is work that is done over and over.
func repeat(w *model.Work, times int64) {
	w.CoreSteps *= times
	w.Steps, w.FLOPs, w.Bytes, w.FirstBytes, w.LastBytes = w.Steps*times, w.FLOPs*times, w.Bytes*times, w.FirstBytes*times, w.LastBytes*times
}

// read is what a schedule, and for a kernel of Mosaic its text, tell of a kernel.
func (b *Backend) read(c *call, k hlo.Kernel, s *schedule.Schedule, texts []string) error {
	c.Schedule, c.Bundles = s.Kernel, s.Bundles
	if grid, ok := s.Grid(); ok {
		c.Trips = grid.Trips
	}
	if k.Target == "tpu_custom_call" {
		err := b.readOwn(c, k, s, texts)
		if err == nil {
			return nil
		}
		c.Note = err.Error()
	}
	once := *s
	once.Times = 1 // counted by the caller
	p, err := partOf(&once, looped(s), nil)
	if err != nil {
		return err
	}
	none, err := partOf(&once, looped(s), make([]float64, len(s.Conditional())))
	if err != nil {
		return err
	}
	w := b.own(p)
	moved, known := w.Bytes, p.In >= 0 && p.Out >= 0
	w.FLOPs, w.Bytes = k.FLOPs, k.Bytes
	c.Likely, c.Least, c.Most = w, w, w
	c.Least.Cycles = none.Cycles
	switch {
	case k.Windows != nil && k.Left+k.Right > 0:
		c.Likely.Bytes = 0
		for _, times := range orders(*k.Windows) {
			if bytes := k.Bytes + (times[0]-1)*k.Left + (times[1]-1)*k.Right; c.Likely.Bytes == 0 || bytes < c.Likely.Bytes {
				c.Likely.Bytes = bytes
			}
		}
	case known:
		c.Likely.Bytes = max(k.Bytes, moved)
	}
	if known {
		c.Most.Bytes = max(c.Likely.Bytes, moved)
		c.Likely.Bytes = min(c.Likely.Bytes, c.Most.Bytes)
	} else {
		c.Most.Bytes = 2 * c.Likely.Bytes
		c.Note = "how much a step moves is not told: the band has each byte once and twice"
	}
	for _, w := range []*model.Work{&c.Likely, &c.Least, &c.Most} {
		w.FirstBytes, w.LastBytes = min(w.FirstBytes, w.Bytes), min(w.LastBytes, max(0, w.Bytes-w.FirstBytes))
	}
	return nil
}

// readOwn reads a kernel of Mosaic as one of this project's: by its program.
func (b *Backend) readOwn(c *call, k hlo.Kernel, s *schedule.Schedule, texts []string) error {
	var arrays [][]int64
	for _, a := range append(slices.Clone(k.Arguments), k.Shape.Leaves()...) {
		arrays = append(arrays, a.Dimensions)
	}
	var found *mosaicText
	reason := errors.New("the text of the kernel was not found")
	for _, text := range texts {
		m, err := readMosaic(text, arrays, len(k.Shape.Leaves()))
		if err != nil {
			reason = err
			continue
		}
		if steps := m.program.Steps(); max(1, int64(s.Steps())) > steps || max(1, int64(s.Steps()))*int64(b.device.Cores) < steps {
			continue
		}
		if found != nil {
			return errors.New("which of several kernels' texts it is cannot be told")
		}
		found = m
	}
	if found == nil {
		return reason
	}
	var near []model.Resident
	for i, a := range k.Arguments {
		if at := i - (len(arrays) - len(found.program.Refs)); a.Space != 0 && at >= 0 {
			near = append(near, model.Resident{Name: found.program.Refs[at].Name, Between: a.Space != vmemSpace})
		}
	}
	w, err := model.WorkOf(found.program, near...)
	if err != nil {
		return err
	}
	own := kernel{name: k.Name, steps: w.Steps, partial: partialTiles(found.program)}
	shares := w.Shares
	for _, st := range found.program.Body {
		if st.Cond != nil {
			own.conditions, shares = append(own.conditions, condition{shares[0], seen(st.Cond)}), shares[1:]
		}
	}
	once := *s
	once.Times = 1
	of := func(shares []float64) (model.Work, error) {
		p, err := partOf(&once, own.steps > 1 && looped(s), shares)
		return b.laidOut(w, p), err
	}
	if c.Products = found.dtype; found.unknown == "" {
		if c.Likely, err = of(own.shared(s)); err == nil {
			c.Least, c.Most = c.Likely, c.Likely
			return nil
		}
		found.unknown = "regions of the schedule that its text does not have"
	}
	if c.Most, err = of(nil); err != nil {
		return err
	}
	if c.Least, err = of(make([]float64, len(s.Conditional()))); err != nil {
		return err
	}
	c.Likely, c.Least.FLOPs = c.Most, 0
	c.Note = found.unknown + ": the band has all of them and none"
	return nil
}

// vmemOf is how much of VMEM a kernel takes for itself, by the compiler's note.
func vmemOf(config string) int64 {
	_, note, _ := strings.Cut(config, `"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"`)
	n, _ := strconv.ParseInt(note[:max(0, strings.IndexByte(note, '"'))], 10, 64)
	return n
}
