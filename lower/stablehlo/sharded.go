package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/machine/mesh"
	"matladder/problem"
	"matladder/tile"
)

// Exchanged is XLA's own program of tokens that go to experts and back, for a mesh of one axis,
// mesh.Expert. Arrays are those of all devices, one behind the other: rows (Devices·Rows×Dim),
// sorted by expert on each device, w (Experts·Dim×N) and y (Devices·Rows×N). A device has its own
// rows of each, and is told to keep what is multiplied, before and after, by expert: that rows go
// to the devices of their experts and products come back is the partitioner's to find out. Told
// less, it may bring the matrices of all experts to every device instead: libtpu 0.0.51 does so
// on v5e if told nothing, and on v7x if told of the rows alone.
func Exchanged(p problem.Exchanged) (*Spread, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e := p.Each
	byRows := mesh.Split{{mesh.Expert}, nil}
	s := Spread{
		Name: "xla",
		Mesh: mesh.Mesh{{Name: mesh.Expert, Size: p.Devices}},
		Way:  mesh.Sharding{Name: "experts", Help: "rows to the devices of their experts, and products back", A: byRows, B: byRows, O: byRows},
		In:   []problem.Operand{{Name: "rows", Dtype: e.Dtype, Shape: []int{p.Devices * e.Rows(), e.Dim}}, {Name: "w", Dtype: e.Dtype, Shape: []int{e.Experts * e.Dim, p.N}}},
		Out:  []problem.Operand{{Name: "y", Dtype: e.Dtype, Shape: []int{p.Devices * e.Rows(), p.N}, Out: true}},
	}
	for _, a := range []problem.Operand{s.In[0], s.In[1], s.Out[0]} {
		if !countable(a.Shape[0]) || !countable(a.Shape[1]) {
			return nil, refused(p, a.Name, "a dimension does not fit 32 bits")
		}
	}
	rows, w := value{Name: "%rows", Type: stored(s.In[0])}, value{Name: "%w", Type: stored(s.In[1])}
	t := newText()
	main := t.Function("public", "main", []value{rows, w}, storedTypes(s.Out), func() []value {
		rows := t.byExpert(t.Reshape(rows, []int{p.Devices, e.Experts, e.Capacity, e.Dim}))
		w := t.Reshape(w, []int{e.Experts, e.Dim, p.N})
		sums := tensor{Elem: "f32", Dims: []int{e.Experts, p.Devices, e.Capacity, p.N}}
		y := t.Op(sums, "dot_general", "batching_dims = [1] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT]", rows, w)
		y = t.output(y, tile.Float32, e.Dtype) // what goes back is no wider than what came
		y = t.byExpert(t.transpose(y, 1, 0, 2, 3))
		return []value{t.Reshape(y, s.Out[0].Shape)}
	})
	return spread(s, main+"}\n"), nil
}

// byExpert keeps rows (device, expert, row, column) on the devices of their experts.
func (t *text) byExpert(rows value) value {
	v := t.Fresh(rows.Type)
	t.Line("%s = sdy.sharding_constraint %s <@mesh, [{}, {%q}, {}, {}]> : %s", v.Name, rows.Name, mesh.Expert, mlir.Tensor(v.Type))
	return v
}

// Spread is a program for all devices of a mesh together: a module whose arrays are annotated for
// Shardy, XLA's partitioner, which writes what each device does and what moves between them.
type Spread struct {
	Name    string
	Mesh    mesh.Mesh
	Way     mesh.Sharding
	In, Out []problem.Operand // whole, each of two dimensions: the mesh has parts of them as Way says
	Module  string
}

// Sharded is Once for the devices of a mesh. Anything but a plain product of matrices is an
// *UnsupportedError.
func (l *Launch) Sharded(m mesh.Mesh, s mesh.Sharding) (*Spread, error) {
	rest := l.Once()
	const begin = "module @xla {\n"
	head, functions, ok := strings.Cut(rest, begin)
	if !ok || head != "" {
		return nil, fmt.Errorf("stablehlo: %s is not what the vendor makes of a product", l.Name)
	}
	arrays := slices.Concat(l.In, l.Out)
	for i, a := range arrays {
		if len(arrays) != 3 || a.Name != []string{"a", "b", "o"}[i] || len(a.Shape) != 2 {
			return nil, unsupported(tile.Pos{}, l.Name, a.Name, "", "only plain products of two matrices are spread over devices")
		}
	}
	return spread(Spread{Name: l.Name, Mesh: m, Way: s, In: l.In, Out: l.Out}, functions), nil
}

// spread completes s with the module of functions, whose @main comes first: its one result
// and its arguments, which have the names of the arrays, get their annotations.
func spread(s Spread, functions string) *Spread {
	signature, body, _ := strings.Cut(functions, "\n")
	args, results, _ := strings.Cut(signature, " -> ")
	for _, a := range s.In {
		typed := fmt.Sprintf("%%%s: %s", a.Name, mlir.Tensor(stored(a)))
		args = strings.Replace(args, typed, typed+annotation(s.Mesh, s.Way.Of(a.Name)), 1)
	}
	out := mlir.Tensor(stored(s.Out[0]))
	results = strings.Replace(results, out, out+annotation(s.Mesh, s.Way.Of(s.Out[0].Name)), 1)
	axes := mlir.List(s.Mesh, func(a mesh.Axis) string { return fmt.Sprintf("%q=%d", a.Name, a.Size) })
	s.Module = fmt.Sprintf("module @%s attributes {mhlo.num_partitions = %d : i32, mhlo.num_replicas = 1 : i32} {\n  sdy.mesh @mesh = <[%s]>\n%s -> %s\n%s",
		s.Name, s.Mesh.Devices(), axes, args, results, body)
	return &s
}

// annotation is a split as Shardy reads it, over those of its axes that the mesh has.
func annotation(m mesh.Mesh, s mesh.Split) string {
	dims := make([]string, len(s))
	for i, axes := range s {
		var quoted []string
		for _, name := range axes {
			if slices.ContainsFunc(m, func(a mesh.Axis) bool { return a.Name == name }) {
				quoted = append(quoted, fmt.Sprintf("%q", name))
			}
		}
		dims[i] = "{" + strings.Join(quoted, ", ") + "}"
	}
	return fmt.Sprintf(" {sdy.sharding = #sdy.sharding<@mesh, [%s]>}", strings.Join(dims, ", "))
}
