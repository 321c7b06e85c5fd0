package aot

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// mosaicText is what the text of a kernel tells: the grid and the operands' blocks as a tile
// program, and in its body the products, under the conditions that decide them.
type mosaicText struct {
	program *tile.Program
	dtype   string      // of the first product
	unknown string      // what of a condition or a loop is not known; then all of it is counted
	chosen  []*tile.Ref // whose blocks data chooses: another in each step at most
}

var (
	mosaicBounds    = regexp.MustCompile(`iteration_bounds = array<i64: ([-0-9, ]+)>`)
	mosaicSemantics = regexp.MustCompile(`dimension_semantics<(\w+)>`)
	mosaicPrefetch  = regexp.MustCompile(`scalar_prefetch = (\d+)`)
	mosaicWindow    = regexp.MustCompile(`\{[^{}]*transform_indices = @([\w.$-]+), window_bounds = array<i64: ([0-9, ]+)>[^{}]*\}`)
	mosaicArgument  = regexp.MustCompile(`(%\w+): (i32|memref<((?:\w+x)*)(\w+),? ?[^:{]*?>)(?:,|\)| \{|$)`)
	mosaicAssign    = regexp.MustCompile(`^(%\w+) = ([\w.]+) ?(\w+)?(.*)$`)
	mosaicNames     = regexp.MustCompile(`%\w+`)
	mosaicProduct   = regexp.MustCompile(`dot_dimension_numbers<\[([0-9, ]*)\].*: vector<((?:\d+x)+)(\w+)>, vector<((?:\d+x)+)\w+>, vector<((?:\d+x)+)\w+>`)
	mosaicLoop      = regexp.MustCompile(`^(?:%\w+(?::\d+)? = )?scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+)`)
	mosaicConstant  = regexp.MustCompile(`^(%\w+) = arith\.constant (-?\d+|true|false)(?: : .*)?$`)
)

func integers(list, by string) (all []int) {
	for _, s := range strings.Split(strings.Trim(list, by+" "), by) {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// readMosaic reads a kernel as libtpu writes it: arrays are the shapes of inputs and outputs, as
// the program around it has them, and steps those that each core runs where data decides the grid's
// size, 0 if unknown. The error says what is not read, as of operands that a kernel copies itself; where
// only operands are not, the grid and the body are there beside it.
func readMosaic(text string, arrays [][]int64, outputs int, steps, cores int64) (*mosaicText, error) {
	at := strings.Index(text, "func.func @")
	if at < 0 {
		return nil, fmt.Errorf("a kernel without a function")
	}
	line, body, _ := strings.Cut(text[at:], "\n")
	body, transforms, _ := strings.Cut(body, "\n  }\n")
	m := &mosaicText{program: &tile.Program{Name: "foreign"}}
	semantics := mosaicSemantics.FindAllStringSubmatch(line, -1)
	bounds := mosaicBounds.FindStringSubmatch(line)
	if bounds == nil { // no grid
		bounds = []string{"", ""}
	}
	for i, n := range integers(bounds[1], ",") {
		a := &tile.Axis{Name: fmt.Sprint("i", i), Size: n, Semantics: tile.Arbitrary}
		if i < len(semantics) && semantics[i][1] == "parallel" {
			a.Semantics = tile.Parallel
		}
		m.program.Grid = append(m.program.Grid, a)
	}
	if slices.ContainsFunc(m.program.Grid, func(a *tile.Axis) bool { return a.Semantics == tile.Parallel && a.Size > 1 }) {
		steps *= cores // which share that axis
	}
	bound, err := m.size(steps)
	if err != nil {
		return nil, err
	}
	arrays = arrays[min(bound, len(arrays)):]
	arguments := mosaicArgument.FindAllStringSubmatch(line, -1)
	if len(arguments) < len(m.program.Grid) {
		return nil, fmt.Errorf("a kernel whose arguments are not understood")
	}
	prefetch := 0
	if p := mosaicPrefetch.FindStringSubmatch(line); p != nil {
		prefetch, _ = strconv.Atoi(p[1])
	}
	windows := mosaicWindow.FindAllStringSubmatch(line, -1)
	operands := arguments[len(m.program.Grid):]
	if bounds[1] == "" && len(arrays) <= len(operands) {
		for i, a := range arrays { // whole
			whole := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(a)), ", "), "[]")
			if !strings.Contains(operands[i][2], "memory_space<vmem>") {
				whole = ""
			}
			windows = append(windows, []string{"", "", whole})
		}
	}
	if err := m.read(line, body); err != nil {
		return nil, err
	}
	if len(windows) == 0 || prefetch+len(windows) != len(arrays) || len(arrays) > len(operands) {
		return m, fmt.Errorf("a kernel that copies operands itself")
	}
	var refs []*tile.Ref
	for i, w := range windows {
		r := &tile.Ref{Name: fmt.Sprint("x", i), Kind: tile.In, Block: integers(w[2], ",")}
		if i >= len(windows)-outputs {
			r.Kind = tile.Out
		}
		dtype, err := tile.ParseDtype(mosaicDtypes.Replace(operands[prefetch+i][4]))
		if err != nil {
			return nil, err
		}
		r.Dtype = dtype
		r.Array = each.Of(arrays[prefetch+i], func(n int64) int { return int(n) })
		if len(r.Block) != len(r.Array) {
			return m, fmt.Errorf("a kernel that copies operands itself")
		}
		if r.Index = slices.Repeat([]tile.IndexExpr{tile.Const(0)}, len(r.Array)); len(m.program.Grid) > 0 {
			period, known := m.period(transforms, w[1], len(r.Array))
			if r.Index = m.another(r, period); !known {
				m.chosen = append(m.chosen, r)
			}
		}
		refs = append(refs, r)
	}
	m.program.Refs = refs
	return m, nil
}

// size gives axes of the grid whose size is data one, so that all together have the steps, and
// counts such axes: their sizes are the kernel's first inputs.
func (m *mosaicText) size(steps int64) (bound int, err error) {
	for _, a := range m.program.Grid {
		if a.Size < 1 && steps == 0 {
			return bound, fmt.Errorf("a grid whose size is data")
		}
		steps = (steps + int64(max(1, a.Size)) - 1) / int64(max(1, a.Size))
	}
	for _, a := range m.program.Grid {
		if a.Size < 1 {
			a.Size, steps, bound = int(max(1, steps)), 1, bound+1
		}
	}
	return bound, nil
}

// step is how many steps come before the one at hand.
func (m *mosaicText) step() tile.IndexExpr {
	step := tile.IndexExpr(tile.Const(0))
	for _, a := range m.program.Grid {
		step = tile.Plus(tile.Times(step, a.Size), a)
	}
	return step
}

// another is an index map of r by which another block than before is taken every so many steps;
// always the same one if that is 0.
func (m *mosaicText) another(r *tile.Ref, period int64) []tile.IndexExpr {
	index, most, at := slices.Repeat([]tile.IndexExpr{tile.Const(0)}, len(r.Array)), 1, 0
	for d, n := range r.Array {
		if blocks := (n + r.Block[d] - 1) / max(1, r.Block[d]); blocks > most {
			most, at = blocks, d
		}
	}
	if most > 1 && period > 0 {
		index[at] = tile.Mod(tile.FloorDiv(m.step(), int(period)), most)
	}
	return index
}

// mostSteps bounds the grids whose steps are computed one by one.
const mostSteps = 1 << 21

// mosaicScalars are the integers in a function that its place in the grid decides, in order: each
// is computed from those before it.
type mosaicScalars struct {
	slots     map[string]int // of values by name; first the place in the grid
	constants map[string]int64
	all       []mosaicScalar
}

// mosaicScalar is an operation on integers; its result has the next slot.
type mosaicScalar struct {
	op       string
	of       [3]int
	constant int64
}

// scalars reads a function: its first line names the place in the grid.
func (m *mosaicText) scalars(head, text string) mosaicScalars {
	s := mosaicScalars{slots: map[string]int{}, constants: map[string]int64{}}
	for _, name := range mosaicNames.FindAllString(head, -1) {
		if len(s.slots) < len(m.program.Grid) {
			s.slots[name] = len(s.slots)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		o := mosaicScalar{}
		to := ""
		if c := mosaicConstant.FindStringSubmatch(line); c != nil {
			n, err := strconv.ParseInt(c[2], 10, 64)
			if err != nil && c[2] == "true" {
				n = 1
			}
			to, o.constant, s.constants[c[1]] = c[1], n, n
		} else if a := mosaicAssign.FindStringSubmatch(line); a != nil && strings.HasPrefix(a[2], "arith.") && !strings.Contains(line, "vector<") {
			to, o.op = a[1], strings.TrimPrefix(a[2], "arith.")
			if o.op == "cmpi" {
				o.op = a[3]
			}
			of := mosaicNames.FindAllString(line, -1)[1:]
			for i, name := range of {
				slot, known := s.slots[name]
				if !known || i == len(o.of) {
					to = ""
					break
				}
				o.of[i] = slot
			}
			if _, known := mosaicOperations[o.op]; !known || len(of) == 0 {
				to = ""
			}
		}
		if to != "" {
			s.slots[to] = len(m.program.Grid) + len(s.all)
			s.all = append(s.all, o)
		}
	}
	return s
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// mosaicOperations are those on integers, by their names without dialect; of a comparison by how
// it compares.
var mosaicOperations = map[string]func(x, y, z int64) int64{
	"addi":   func(x, y, _ int64) int64 { return x + y },
	"subi":   func(x, y, _ int64) int64 { return x - y },
	"muli":   func(x, y, _ int64) int64 { return x * y },
	"divsi":  func(x, y, _ int64) int64 { return x / cmp.Or(y, 1) },
	"remsi":  func(x, y, _ int64) int64 { return x % cmp.Or(y, 1) },
	"minsi":  func(x, y, _ int64) int64 { return min(x, y) },
	"maxsi":  func(x, y, _ int64) int64 { return max(x, y) },
	"andi":   func(x, y, _ int64) int64 { return x & y },
	"ori":    func(x, y, _ int64) int64 { return x | y },
	"xori":   func(x, y, _ int64) int64 { return x ^ y },
	"eq":     func(x, y, _ int64) int64 { return truth(x == y) },
	"ne":     func(x, y, _ int64) int64 { return truth(x != y) },
	"slt":    func(x, y, _ int64) int64 { return truth(x < y) },
	"sle":    func(x, y, _ int64) int64 { return truth(x <= y) },
	"sgt":    func(x, y, _ int64) int64 { return truth(x > y) },
	"sge":    func(x, y, _ int64) int64 { return truth(x >= y) },
	"select": func(x, y, z int64) int64 { return y*truth(x != 0) + z*truth(x == 0) },
	"extui":  func(x, _, _ int64) int64 { return x }, "extsi": func(x, _, _ int64) int64 { return x },
	"trunci": func(x, _, _ int64) int64 { return x }, "index_cast": func(x, _, _ int64) int64 { return x },
}

// points calls f for each step of the grid in order, with the scalars that its place leads to by
// slot; false if the grid has too many.
func (m *mosaicText) points(s mosaicScalars, f func(values []int64)) bool {
	if m.program.Steps() > mostSteps {
		return false
	}
	axes := len(m.program.Grid)
	values := make([]int64, axes+len(s.all))
	operations := each.Of(s.all, func(o mosaicScalar) func(x, y, z int64) int64 { return mosaicOperations[o.op] }) // nil of a constant
	for range m.program.Steps() {
		for i := range s.all {
			o := &s.all[i]
			if values[axes+i] = o.constant; operations[i] != nil {
				values[axes+i] = operations[i](values[o.of[0]], values[o.of[1]], values[o.of[2]])
			}
		}
		f(values)
		for i := axes - 1; i >= 0; i-- {
			if values[i]++; values[i] < int64(m.program.Grid[i].Size) {
				break
			}
			values[i] = 0
		}
	}
	return true
}

// period is how many steps on average an index map, a function of its own, keeps a block; 0 for
// all. It is 1 and unknown where data chooses.
func (m *mosaicText) period(text, name string, rank int) (steps int64, known bool) {
	_, text, _ = strings.Cut(text, "func.func @"+name+"(")
	text, returned, _ := strings.Cut(text, "return ")
	head, text, _ := strings.Cut(text, "\n")
	returned, _, _ = strings.Cut(returned, " :")
	scalars := m.scalars(head, text)
	var slots []int
	for _, v := range mosaicNames.FindAllString(returned, -1) {
		if slot, ok := scalars.slots[v]; ok {
			slots = append(slots, slot)
		}
	}
	last := make([]int64, len(slots))
	changes := int64(-1) // the first block is none
	if len(slots) != rank || !m.points(scalars, func(values []int64) {
		changed := changes < 0
		for d, slot := range slots {
			changed = changed || values[slot] != last[d]
			last[d] = values[slot]
		}
		if changed {
			changes++
		}
	}) {
		return 1, false
	}
	if changes == 0 {
		return 0, true
	}
	return max(1, m.program.Steps()/(changes+1)), true
}

// holds returns a condition that holds in as many steps as the one of a name in the body does.
func (m *mosaicText) holds(s mosaicScalars, name string) (tile.Cond, bool) {
	times := 0
	slot, known := s.slots[name]
	if !known || !m.points(s, func(values []int64) {
		if values[slot] != 0 {
			times++
		}
	}) {
		return nil, false
	}
	return tile.Test(m.step(), tile.LT, tile.Const(times)), true
}

// mosaicDtypes spells dtypes of MLIR as tile does.
var mosaicDtypes = strings.NewReplacer("f8E4M3FN", "float8_e4m3fn", "f8E5M2", "float8_e5m2", "bf16", "bfloat16", "f32", "float32", "i", "int")

// read reads the body: what its products are and where they stand.
func (m *mosaicText) read(head, body string) error {
	scalars := m.scalars(head, body)
	always := tile.Test(tile.Const(0), tile.EQ, tile.Const(0))
	type open struct {
		to   *[]*tile.Stmt
		cond tile.Cond // of an scf.if
	}
	stack := []open{{to: &m.program.Body}}
	begin := func(s *tile.Stmt, cond tile.Cond) {
		to := stack[len(stack)-1].to
		*to = append(*to, s)
		stack = append(stack, open{&s.Body, cond})
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		l := mosaicLoop.FindStringSubmatch(line)
		switch {
		case strings.Contains(line, "scf.if %"):
			_, name, _ := strings.Cut(line, "scf.if ")
			name = mosaicNames.FindString(name)
			cond, ok := m.holds(scalars, name)
			if !ok {
				cond, m.unknown = always, "data decides conditions"
			}
			begin(&tile.Stmt{Kind: tile.When, Cond: cond}, cond)
		case l != nil:
			s := &tile.Stmt{Kind: tile.Loop, Axis: &tile.Axis{Name: l[1], Size: 1, Loop: true}}
			from, a := scalars.constants[l[2]]
			to, b := scalars.constants[l[3]]
			by, c := scalars.constants[l[4]]
			if a && b && c && by > 0 && to > from {
				s.Axis.Size = int((to - from + by - 1) / by)
			} else {
				m.unknown = "data decides how often a loop runs"
			}
			begin(s, nil)
		case line == "} else {" && len(stack) > 1:
			cond := stack[len(stack)-1].cond
			stack = stack[:len(stack)-1]
			if cond == nil {
				return fmt.Errorf("a kernel whose text is not understood")
			}
			begin(&tile.Stmt{Kind: tile.When, Cond: tile.Not(cond)}, nil)
		case strings.HasSuffix(line, "{") && !strings.HasPrefix(line, "^"):
			begin(&tile.Stmt{Kind: tile.When, Cond: always}, nil)
			m.unknown = "regions are not understood"
		case strings.HasPrefix(line, "}"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case line != "" && line != "return" && !strings.HasPrefix(line, "scf.yield"):
			s := &tile.Stmt{Kind: tile.Store, Value: &tile.Expr{Op: tile.OpConst}}
			if p := mosaicProduct.FindStringSubmatch(line); p != nil && strings.Contains(line, "tpu.matmul") {
				left, out := integers(p[2], "x"), integers(p[5], "x")
				k, n := 1, each.Product(out[1:])
				for _, d := range integers(p[1], ",") {
					k *= left[min(d, len(left)-1)]
				}
				dtype, err := tile.ParseDtype(mosaicDtypes.Replace(p[3]))
				if err != nil {
					return err
				}
				factor := func(shape ...int) *tile.Expr { return &tile.Expr{Op: tile.OpConst, Dtype: dtype, Shape: shape} }
				s.Value = &tile.Expr{Op: tile.OpDot, Args: []*tile.Expr{factor(out[0], k), factor(k, n)}, Shape: []int{out[0], n}}
				m.dtype = cmp.Or(m.dtype, dtype.String())
			}
			to := stack[len(stack)-1].to
			*to = append(*to, s)
		}
	}
	m.program.Body = slices.DeleteFunc(m.program.Body, func(s *tile.Stmt) bool { return s.Kind == tile.When && len(s.Body) == 0 })
	return nil
}
