package aot

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// mosaicText is what the text of a kernel tells: the grid and the operands' blocks as a tile
// program, and in its body the products, under the conditions that decide them.
type mosaicText struct {
	program    *tile.Program
	conditions []condition // of the body's regions in order
	dtype      string      // of the first product
	unknown    string      // what of a condition or a loop is not known; then all of it is counted
	chosen     []*tile.Ref // whose blocks data chooses: another in each step at most
}

var (
	mosaicBounds     = regexp.MustCompile(`iteration_bounds = array<i64: ([-0-9, ]+)>`)
	mosaicSemantics  = regexp.MustCompile(`dimension_semantics<(\w+)>`)
	mosaicPrefetch   = regexp.MustCompile(`scalar_prefetch = (\d+)`)
	mosaicWindow     = regexp.MustCompile(`\{[^{}]*transform_indices = @([\w.$-]+), window_bounds = array<i64: ([0-9, ]+)>[^{}]*\}`)
	mosaicArgument   = regexp.MustCompile(`(%\w+): (i32|memref<((?:\w+x)*)(\w+),? ?[^:{]*?>)(?:,|\)| \{|$)`)
	mosaicAssign     = regexp.MustCompile(`^(%\w+) = ([\w.]+) ?(\w+)?(.*)$`)
	mosaicNames      = regexp.MustCompile(`%\w+`)
	mosaicProduct    = regexp.MustCompile(`dot_dimension_numbers<\[([0-9, ]*)\].*: vector<((?:\d+x)+)(\w+)>, vector<((?:\d+x)+)\w+>, vector<((?:\d+x)+)\w+>`)
	mosaicLoop       = regexp.MustCompile(`^(?:%\w+(?::\d+)? = )?scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+)`)
	mosaicConstant   = regexp.MustCompile(`^(%\w+) = arith\.constant (-?\d+|true|false)(?: : .*)?$`)
	mosaicComparison = map[string]tile.Comparison{"eq": tile.EQ, "ne": tile.NE, "slt": tile.LT, "sle": tile.LE, "sgt": tile.GT, "sge": tile.GE}
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
	values := map[string]any{} // tile.IndexExpr, tile.Cond; what is not known is not in it
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
	var grid []any
	for i, a := range m.program.Grid {
		values[arguments[i][1]] = tile.IndexExpr(a)
		grid = append(grid, tile.IndexExpr(a))
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
	if err := m.read(line, body, values); err != nil {
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
		dtype, err := tile.ParseDtype(mosaicDtype(operands[prefetch+i][4]))
		if err != nil {
			return nil, err
		}
		r.Dtype = dtype
		for _, n := range arrays[prefetch+i] {
			r.Array = append(r.Array, int(n))
		}
		if len(r.Block) != len(r.Array) {
			return m, fmt.Errorf("a kernel that copies operands itself")
		}
		if r.Index = slices.Repeat([]tile.IndexExpr{tile.Const(0)}, len(r.Array)); len(grid) > 0 {
			index, err := mosaicTransform(transforms, w[1], grid, len(r.Array))
			if errors.Is(err, errChosen) {
				period, known := m.period(transforms, w[1], len(r.Array))
				if index = m.another(r, period); !known {
					m.chosen = append(m.chosen, r)
				}
			} else if err != nil {
				return nil, fmt.Errorf("a kernel whose blocks are not understood: %w", err)
			}
			r.Index = index
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
const mostSteps = 1 << 17

// points calls f for each step of the grid in order, with the scalars that its place leads to.
func (m *mosaicText) points(head string, scalars []mosaicScalar, f func(map[string]int64) bool) bool {
	var names []string
	for i, a := range mosaicNames.FindAllString(head, -1) {
		if i < len(m.program.Grid) {
			names = append(names, a)
		}
	}
	if m.program.Steps() > mostSteps || len(names) < len(m.program.Grid) {
		return false
	}
	place := make([]int64, len(names))
	for range m.program.Steps() {
		values := map[string]int64{}
		for i, name := range names {
			values[name] = place[i]
		}
		for _, o := range scalars {
			o.compute(values)
		}
		if !f(values) {
			return false
		}
		for i := len(place) - 1; i >= 0; i-- {
			if place[i]++; place[i] < int64(m.program.Grid[i].Size) {
				break
			}
			place[i] = 0
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
	index := mosaicNames.FindAllString(returned, -1)
	var last []int64
	changes := int64(0)
	known = len(index) == rank && m.points(head, mosaicScalars(text), func(values map[string]int64) bool {
		now := make([]int64, rank)
		for d, v := range index {
			n, ok := values[v]
			if !ok {
				return false
			}
			now[d] = n
		}
		if last != nil && !slices.Equal(now, last) {
			changes++
		}
		last = now
		return true
	})
	switch {
	case !known:
		return 1, false
	case changes == 0:
		return 0, true
	}
	return max(1, m.program.Steps()/(changes+1)), true
}

// holds returns a condition that holds in as many steps as the one of a name in the body does.
func (m *mosaicText) holds(head, name string, scalars []mosaicScalar) (tile.Cond, bool) {
	times := 0
	if !m.points(head, scalars, func(values map[string]int64) bool {
		n, ok := values[name]
		if n != 0 {
			times++
		}
		return ok
	}) {
		return nil, false
	}
	return tile.Test(m.step(), tile.LT, tile.Const(times)), true
}

// mosaicScalar is an operation on integers.
type mosaicScalar struct {
	to, op, by string
	of         []string
	constant   int64
}

// mosaicScalars reads the operations on integers among lines of text.
func mosaicScalars(text string) (all []mosaicScalar) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if c := mosaicConstant.FindStringSubmatch(line); c != nil {
			n, err := strconv.ParseInt(c[2], 10, 64)
			if err != nil && c[2] == "true" {
				n = 1
			}
			all = append(all, mosaicScalar{to: c[1], constant: n})
		} else if a := mosaicAssign.FindStringSubmatch(line); a != nil && strings.HasPrefix(a[2], "arith.") && !strings.Contains(line, "vector<") {
			all = append(all, mosaicScalar{to: a[1], op: strings.TrimPrefix(a[2], "arith."), by: a[3], of: mosaicNames.FindAllString(line, -1)[1:]})
		}
	}
	return all
}

// compute puts the value among others, if those that it is made of are there.
func (o mosaicScalar) compute(values map[string]int64) {
	v := make([]int64, 3)
	for i, name := range o.of {
		n, ok := values[name]
		if !ok || i == len(v) {
			return
		}
		v[i] = n
	}
	x, y := v[0], v[1]
	truth := func(b bool) {
		if values[o.to] = 0; b {
			values[o.to] = 1
		}
	}
	switch o.op {
	case "":
		values[o.to] = o.constant
	case "addi":
		values[o.to] = x + y
	case "subi":
		values[o.to] = x - y
	case "muli":
		values[o.to] = x * y
	case "divsi":
		if y != 0 {
			values[o.to] = x / y
		}
	case "remsi":
		if y != 0 {
			values[o.to] = x % y
		}
	case "minsi":
		values[o.to] = min(x, y)
	case "maxsi":
		values[o.to] = max(x, y)
	case "andi":
		values[o.to] = x & y
	case "ori":
		values[o.to] = x | y
	case "xori":
		values[o.to] = x ^ y
	case "select":
		if values[o.to] = v[2]; x != 0 {
			values[o.to] = y
		}
	case "extui", "extsi", "trunci", "index_cast":
		values[o.to] = x
	case "cmpi":
		switch o.by {
		case "eq":
			truth(x == y)
		case "ne":
			truth(x != y)
		case "slt":
			truth(x < y)
		case "sle":
			truth(x <= y)
		case "sgt":
			truth(x > y)
		case "sge":
			truth(x >= y)
		}
	}
}

// errChosen says that a step's block depends on more than its place in the grid.
var errChosen = errors.New("data chooses them")

// mosaicDtype is a dtype of MLIR as it is called here.
func mosaicDtype(s string) string {
	if rest, ok := strings.CutPrefix(s, "bf"); ok {
		return "bfloat" + rest
	}
	if rest, ok := strings.CutPrefix(s, "f"); ok && len(rest) == 2 {
		return "float" + rest
	}
	if rest, ok := strings.CutPrefix(s, "i"); ok {
		return "int" + rest
	}
	return s
}

// mosaicTransform is the index map of an operand, a function of its own.
func mosaicTransform(text, name string, grid []any, rank int) ([]tile.IndexExpr, error) {
	_, text, ok := strings.Cut(text, "func.func @"+name+"(")
	head, text, _ := strings.Cut(text, "\n")
	if !ok {
		return nil, fmt.Errorf("there is no map %s", name)
	}
	values := map[string]any{}
	for i, a := range mosaicNames.FindAllString(head, -1) {
		if i < len(grid) {
			values[a] = grid[i]
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "return "); ok {
			var index []tile.IndexExpr
			for _, v := range mosaicNames.FindAllString(rest, -1) {
				x, ok := values[v].(tile.IndexExpr)
				if !ok {
					return nil, errChosen
				}
				index = append(index, x)
			}
			if len(index) == rank {
				return index, nil
			}
			break
		}
		evaluate(line, values)
	}
	return nil, fmt.Errorf("map %s is not one of %d dimensions", name, rank)
}

// evaluate takes in what a line of text assigns, if it is an integer or a condition that follows
// from the grid.
func evaluate(line string, values map[string]any) {
	if c := mosaicConstant.FindStringSubmatch(line); c != nil {
		if n, err := strconv.Atoi(c[2]); err == nil {
			values[c[1]] = tile.IndexExpr(tile.Const(n))
		} else {
			values[c[1]] = tile.All(tile.Test(tile.Const(0), tile.EQ, tile.Const(map[string]int{"true": 0, "false": 1}[c[2]])))
		}
		return
	}
	a := mosaicAssign.FindStringSubmatch(line)
	if a == nil {
		return
	}
	of := mosaicNames.FindAllString(line, -1)[1:]
	var x, y tile.IndexExpr
	var p, q tile.Cond
	if len(of) > 0 {
		x, _ = values[of[0]].(tile.IndexExpr)
		p, _ = values[of[0]].(tile.Cond)
	}
	if len(of) > 1 {
		y, _ = values[of[1]].(tile.IndexExpr)
		q, _ = values[of[1]].(tile.Cond)
	}
	by, fixed := y.(tile.Const)
	op := strings.TrimPrefix(a[2], "arith.")
	switch {
	case (op == "extui" || op == "index_cast" || op == "trunci" || op == "extsi") && len(of) == 1 && values[of[0]] != nil:
		values[a[1]] = values[of[0]]
	case op == "cmpi" && p != nil && fixed && by == 0 && a[3] == "ne":
		values[a[1]] = p
	case op == "cmpi" && x != nil && y != nil && len(of) == 2:
		if c, ok := mosaicComparison[a[3]]; ok {
			values[a[1]] = tile.Test(x, c, y)
		}
	case op == "andi" && p != nil && q != nil:
		values[a[1]] = tile.All(p, q)
	case op == "ori" && p != nil && q != nil:
		values[a[1]] = tile.Any(p, q)
	case x == nil || y == nil || len(of) != 2:
	case op == "addi":
		values[a[1]] = tile.Plus(x, y)
	case op == "subi" && fixed:
		values[a[1]] = tile.Plus(x, -by)
	case op == "muli" && fixed:
		values[a[1]] = tile.Times(x, int(by))
	case op == "minsi":
		values[a[1]] = tile.AtMost(x, y)
	case op == "maxsi":
		values[a[1]] = tile.AtLeast(x, y)
	case (op == "divsi" || op == "floordivsi") && fixed && by > 0:
		values[a[1]] = tile.FloorDiv(x, int(by))
	case op == "remsi" && fixed && by > 0:
		values[a[1]] = tile.Mod(x, int(by))
	}
}

// read reads the body: what its products are and where they stand.
func (m *mosaicText) read(head, body string, values map[string]any) error {
	scalars := mosaicScalars(body)
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
			cond, ok := values[name].(tile.Cond)
			if !ok {
				cond, ok = m.holds(head, name, scalars)
			}
			if !ok {
				cond, m.unknown = always, "data decides conditions"
			}
			begin(&tile.Stmt{Kind: tile.When, Cond: cond}, cond)
		case l != nil:
			s := &tile.Stmt{Kind: tile.Loop, Axis: &tile.Axis{Name: l[1], Size: 1, Loop: true}}
			from, a := values[l[2]].(tile.Const)
			to, b := values[l[3]].(tile.Const)
			by, c := values[l[4]].(tile.Const)
			if a && b && c && by > 0 && to > from {
				s.Axis.Size = int((to - from + by - 1) / by)
				values[l[1]] = tile.Plus(tile.Times(s.Axis, int(by)), from)
			} else {
				m.unknown = "data decide how often a loop runs"
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
			evaluate(line, values)
			s := &tile.Stmt{Kind: tile.Store, Value: &tile.Expr{Op: tile.OpConst}}
			if p := mosaicProduct.FindStringSubmatch(line); p != nil && strings.Contains(line, "tpu.matmul") {
				left, out := integers(p[2], "x"), integers(p[5], "x")
				k, n := 1, 1
				for _, d := range integers(p[1], ",") {
					k *= left[min(d, len(left)-1)]
				}
				for _, d := range out[1:] {
					n *= d
				}
				dtype, err := tile.ParseDtype(mosaicDtype(p[3]))
				if err != nil {
					return err
				}
				factor := func(shape ...int) *tile.Expr { return &tile.Expr{Op: tile.OpConst, Dtype: dtype, Shape: shape} }
				s.Value = &tile.Expr{Op: tile.OpDot, Args: []*tile.Expr{factor(out[0], k), factor(k, n)}, Shape: []int{out[0], n}}
				if m.dtype == "" {
					m.dtype = dtype.String()
				}
			}
			to := stack[len(stack)-1].to
			*to = append(*to, s)
		}
	}
	m.program.Body = slices.DeleteFunc(m.program.Body, func(s *tile.Stmt) bool { return s.Kind == tile.When && len(s.Body) == 0 })
	return nil
}
