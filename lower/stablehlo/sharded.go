package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/machine/mesh"
	"matladder/tile"
)

// Spread is a program for all devices of a mesh together: a module whose arrays are annotated for
// Shardy, XLA's partitioner, which writes what each device does and what moves between them.
type Spread struct {
	Name    string
	Mesh    mesh.Mesh
	Way     mesh.Sharding
	In, Out []Array // whole, each of two dimensions: the mesh has parts of them as Way says
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
	arrays := append(append([]Array(nil), l.In...), l.Out...)
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
		typed := fmt.Sprintf("%%%s: %s", a.Name, mlir.Tensor(a.typ()))
		args = strings.Replace(args, typed, typed+annotation(s.Mesh, s.Way.Of(a.Name)), 1)
	}
	out := mlir.Tensor(s.Out[0].typ())
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
