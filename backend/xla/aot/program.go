package aot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/each"
	"matladder/lower/stablehlo"
	"matladder/model"
	"matladder/tile"
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
		f.Texts = each.With(f.Texts, string(text))
	}
	return f, err
}

// unknown is why it is not known how often loops run, without the name of a file that is gone.
func (f *foreign) unknown() string {
	if format := (*schedule.FormatError)(nil); errors.As(f.Loops, &format) {
		return format.Want
	}
	return f.Loops.Error()
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
	Uncounted           bool   // it may have products of which nothing is known
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
	Uncounted   bool   // whether it has FLOPs beside those of Work is not known
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
	kind := fmt.Sprintf("program of any kind, with its signature and all loops and branches, assuming %v\n", b.compiler.options.Assume)
	outcome, err := b.compileAs(ctx, kind, text, options, anew, func(c *Compiled, m *hlo.Module, o *outcome) (err error) {
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
		k := Kernel{Explained{Step: step}, c.Products, c.Bundles, c.Trips, c.Times, c.VMEM, c.Least.Bytes, c.Unsupported, c.Note, c.Uncounted}
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
	return b.sum(each.Of(kernels, func(k Kernel) Step { return k.Step }))
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
	used := map[string]bool{} // names that something is assumed of
	for n, k := range kernels {
		c := call{At: n, Until: k.Until, Name: k.Name, Products: k.Products, VMEM: vmemOf(k.Config), Ahead: k.Ahead}
		times, ok := f.Times[k.Name]
		if !ok {
			times = 1
		}
		used[k.Name] = true
		s := byName[k.Name]
		s = cmp.Or(s, twins[k.Twin])
		switch {
		case k.Ahead && k.Opcode != "copy-start" && k.Opcode != "async-start" && k.Opcode != "slice-start":
			c.Ahead, c.Unsupported = false, k.Opcode+": chips exchange data, which needs --mesh"
		case k.Earlier:
			continue
		case k.Ahead && len(k.Operands) > 0 && between[k.Operands[0]]:
			c.At, c.Until = -1, 0
		case k.Ahead:
		case s != nil:
			if err := b.readAssuming(&c, k, s, f.Texts); errors.As(err, new(*AssumeError)) {
				return nil, err
			} else if err != nil {
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
			times, c.Unsupported = 1, f.unknown()
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
	for _, name := range silent(m, calls, f) {
		calls = append(calls, call{Name: name, At: len(kernels), Times: 1, Likely: model.Work{Steps: 1}, Least: model.Work{Steps: 1}, Most: model.Work{Steps: 1}, Unsupported: f.unknown()})
	}
	if len(calls) == 0 {
		return nil, errors.New("the program runs no kernel")
	}
	for _, computation := range m.Computations {
		for _, i := range computation.Instructions {
			used[i.Name] = used[i.Name] || i.Opcode == "while"
		}
	}
	for name := range b.compiler.options.Assume {
		if !used[name] {
			return nil, &AssumeError{name, "the program has no kernel and no loop of that name"}
		}
	}
	return calls, nil
}

// silent are loops that run an unknown number of times and of which no kernel says so: what
// they do is too small to be one, however often.
func silent(m *hlo.Module, calls []call, f *foreign) (names []string) {
	if f.Loops == nil {
		return nil
	}
	told := map[string]bool{} // kernels, and loops inside of others that are listed
	for _, c := range calls {
		told[c.Name] = true
	}
	for _, c := range slices.Backward(m.Computations) { // callers stand behind what they call
		for _, i := range c.Instructions {
			inside := instructionsIn(m, i)
			if !slices.ContainsFunc(inside, func(name string) bool { times, ok := f.Times[name]; return ok && times == 0 }) ||
				told[i.Name] || slices.ContainsFunc(inside, func(name string) bool { return told[name] }) {
				continue
			}
			names = append(names, i.Name)
			for _, name := range inside {
				told[name] = true
			}
		}
	}
	return names
}

// instructionsIn names what a loop runs, and the loops in it; nothing of what is no loop.
func instructionsIn(m *hlo.Module, loop *hlo.Instruction) (names []string) {
	if body := m.Body(loop); body != nil {
		for _, i := range body.Instructions {
			names = append(append(names, i.Name), instructionsIn(m, i)...)
		}
	}
	return names
}

// ParseAssumptions reads Options.Assume, each as NAME=TRIPS, or NAME=TRIPS/TRIPS of more than one
// loop; nil of none.
func ParseAssumptions(texts []string) (map[string][]int, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	assume := map[string][]int{}
	for _, text := range texts {
		name, list, ok := strings.Cut(text, "=")
		if !ok || name == "" || assume[name] != nil {
			return nil, fmt.Errorf("%s: want NAME=TRIPS, each name once, as in gmm.1=66", text)
		}
		for _, one := range strings.Split(list, "/") {
			n, err := strconv.Atoi(one)
			if err != nil || n < 1 || n > 1<<24 {
				return nil, fmt.Errorf("%s: %q is no number of trips, 1 to %d", text, one, 1<<24)
			}
			assume[name] = append(assume[name], n)
		}
	}
	return assume, nil
}

// AssumeError says what of Options.Assume does not fit the program.
type AssumeError struct{ Name, Reason string }

func (e *AssumeError) Error() string {
	return fmt.Sprintf("assuming trips of %s: %s", e.Name, e.Reason)
}

// readAssuming is read of a schedule with loops that data decides: as Options.Assume has them, or
// in the compiler's own kernels between one trip and as many as move all there is.
func (b *Backend) readAssuming(c *call, k hlo.Kernel, s *schedule.Schedule, texts []string) error {
	unknown, assumed := s.Unknown(), b.compiler.options.Assume[k.Name]
	grid, looped := s.Grid()
	switch {
	case len(assumed) > 0 && len(assumed) != len(unknown):
		return &AssumeError{k.Name, fmt.Sprintf("it has %d loops that data decides, not %d", len(unknown), len(assumed))}
	case len(unknown) == 0:
		return b.read(c, k, s, looped, texts)
	case len(assumed) > 0:
		return b.read(c, k, s.Assume(assumed), looped, texts)
	case k.Opcode == "custom-call":
		return fmt.Errorf("data decides how often its loops run: --assume %s=%s says so", k.Name, strings.Join(slices.Repeat([]string{"TRIPS"}, len(unknown)), "/"))
	}
	looped = looped && grid.Trips > 0 // or it is no loop over a grid
	most, once := make([]int, len(unknown)), slices.Repeat([]int{1}, len(unknown))
	for i, l := range unknown {
		around := 1
		for _, o := range s.Loops {
			if o.Depth < l.Depth && o.From <= l.From && l.To <= o.To {
				around *= max(1, o.Trips)
			}
		}
		most[i] = max(1, (mostTrips(k, s.Stores(l.Span))+around-1)/around)
	}
	least := call{}
	if err := b.read(&least, k, s.Assume(once), looped, nil); err != nil {
		return err
	}
	if err := b.read(c, k, s.Assume(most), looped, nil); err != nil {
		return err
	}
	c.Least, c.Likely.Cycles = least.Least, math.Sqrt(least.Likely.Cycles*c.Likely.Cycles)
	c.Note = strings.TrimPrefix(c.Note+"; data decides how often a loop runs: the band has one trip and all that there is to move", "; ")
	return nil
}

// mostTrips bounds how often a loop of a kernel of the compiler's runs: a trip that copies fills
// a register of vectors, of 4096 bytes, with each store; any other takes a row, or a number of a
// list.
func mostTrips(k hlo.Kernel, stores int) int {
	var rows, bytes int64
	for _, a := range append(slices.Clone(k.Arguments), k.Shape.Leaves()...) {
		all, last := int64(1), int64(1)
		for _, n := range a.Dimensions {
			all, last = all*n, n
		}
		if len(a.Dimensions) < 2 {
			last = 1
		}
		rows, bytes = max(rows, all/max(1, last)), max(bytes, all*4)
	}
	switch {
	case stores >= 8 || stores > 0 && k.Opcode == "copy":
		rows = 0
	case stores == 0:
		bytes = 0
	}
	return int(rows + bytes/(4096*int64(max(1, stores))))
}

// repeat is work that is done over and over.
func repeat(w *model.Work, times int64) {
	w.CoreSteps *= times
	w.Steps, w.FLOPs, w.Bytes, w.FirstBytes, w.LastBytes = w.Steps*times, w.FLOPs*times, w.Bytes*times, w.FirstBytes*times, w.LastBytes*times
}

// read is what a schedule, and for a kernel of Mosaic its text, tell of a kernel.
func (b *Backend) read(c *call, k hlo.Kernel, s *schedule.Schedule, looped bool, texts []string) error {
	c.Schedule, c.Bundles = s.Kernel, s.Bundles
	if grid, _ := s.Grid(); looped {
		c.Trips = grid.Trips
	}
	if k.Target == "tpu_custom_call" {
		flops, err := b.readOwn(c, k, s, texts)
		if err == nil {
			return nil
		}
		if c.Note, c.Uncounted = err.Error(), flops < 0; flops > 0 {
			k.FLOPs = flops
		}
	}
	once := *s
	once.Times = 1 // counted by the caller
	p, err := partOf(&once, looped, nil)
	if err != nil {
		return err
	}
	none, err := partOf(&once, looped, make([]float64, len(s.Conditional())))
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

// readOwn reads a kernel of Mosaic as one of this project's: by its program. Beside an error
// there are the FLOPs of its body, -1 if they are unknown.
func (b *Backend) readOwn(c *call, k hlo.Kernel, s *schedule.Schedule, texts []string) (flops int64, err error) {
	flops = -1
	arrays := each.Of(append(slices.Clone(k.Arguments), k.Shape.Leaves()...), func(a hlo.Shape) []int64 { return a.Dimensions })
	var found *mosaicText
	reason := errors.New("the text of the kernel was not found")
	for _, text := range texts {
		m, err := readMosaic(text, arrays, len(k.Shape.Leaves()), int64(s.Steps()), int64(max(1, b.device.Cores)))
		if err != nil {
			if reason = err; m != nil && m.unknown == "" {
				if w, err := model.WorkOf(m.program); err == nil {
					flops, c.Products = w.FLOPs, m.dtype
				}
			}
			continue
		}
		if steps := m.program.Steps(); max(1, int64(s.Steps())) > steps || max(1, int64(s.Steps()))*int64(b.device.Cores) < steps {
			continue
		}
		if found != nil {
			return -1, errors.New("which of several kernels' texts it is cannot be told")
		}
		found = m
	}
	if found == nil {
		return flops, reason
	}
	var near []model.Resident
	for i, a := range k.Arguments {
		if at := i - (len(arrays) - len(found.program.Refs)); a.Space != 0 && at >= 0 {
			near = append(near, model.Resident{Name: found.program.Refs[at].Name, Between: a.Space != vmemSpace})
		}
	}
	w, err := model.WorkOf(found.program, near...)
	if err != nil {
		return -1, err
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
	c.Products = found.dtype
	least, note := own.shared(s), ""
	if c.Likely, err = of(least); found.unknown == "" && err != nil {
		found.unknown = "its text lacks regions of the schedule"
	}
	if found.unknown != "" {
		note, least = found.unknown+": the band has all of them and none", make([]float64, len(s.Conditional()))
		if c.Likely, err = of(nil); err != nil {
			return -1, err
		}
	}
	c.Most = c.Likely
	if len(found.chosen) > 0 {
		note = strings.TrimPrefix(note+"; data chooses blocks: the band has another in each step and one in all", "; ")
		for _, r := range found.chosen {
			r.Index = slices.Repeat([]tile.IndexExpr{tile.Const(0)}, len(r.Index))
		}
		if w, err = model.WorkOf(found.program, near...); err != nil {
			return -1, err
		}
	}
	if c.Least, err = of(least); err != nil {
		return -1, err
	}
	if c.Note = note; found.unknown != "" {
		c.Least.FLOPs = 0
	}
	return 0, nil
}

// vmemOf is how much of VMEM a kernel takes for itself, by the compiler's note.
func vmemOf(config string) int64 {
	_, note, _ := strings.Cut(config, `"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"`)
	n, _ := strconv.ParseInt(note[:max(0, strings.IndexByte(note, '"'))], 10, 64)
	return n
}
