package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"matladder/mesh"
)

// Sharded is Once for the devices of a mesh: the same program, whose arrays a, b and o
// are annotated for Shardy, XLA's partitioner, which writes what each device does and
// what moves between them. Anything but a plain product of matrices is an *UnsupportedError.
func (l *Launch) Sharded(m mesh.Mesh, s mesh.Sharding) (string, error) {
	rest := l.Once()
	const begin = "module @xla {\n"
	head, main, ok := strings.Cut(rest, begin)
	if !ok || head != "" {
		return "", fmt.Errorf("stablehlo: %s is not what the vendor makes of a product", l.Name)
	}
	signature, body, _ := strings.Cut(main, "\n")
	arrays := append(append([]Array(nil), l.In...), l.Out...)
	for i, a := range arrays {
		if len(arrays) != 3 || a.Name != []string{"a", "b", "o"}[i] || len(a.Shape) != 2 {
			return "", &UnsupportedError{Program: l.Name, Op: a.Name, Reason: "only plain products of two matrices are spread over devices"}
		}
	}
	args, results, _ := strings.Cut(signature, " -> ")
	for _, a := range l.In {
		typed := fmt.Sprintf("%%%s: %s", a.Name, a.stored())
		args = strings.Replace(args, typed, typed+annotation(m, s.Of(a.Name)), 1)
	}
	out := l.Out[0].stored().String()
	results = strings.Replace(results, out, out+annotation(m, s.Of(l.Out[0].Name)), 1)
	axes := make([]string, len(m))
	for i, a := range m {
		axes[i] = fmt.Sprintf("%q=%d", a.Name, a.Size)
	}
	return fmt.Sprintf("module @xla attributes {mhlo.num_partitions = %d : i32, mhlo.num_replicas = 1 : i32} {\n  sdy.mesh @mesh = <[%s]>\n%s -> %s\n%s",
		m.Devices(), strings.Join(axes, ", "), args, results, body), nil
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
