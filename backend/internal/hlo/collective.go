package hlo

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"matladder/internal/each"
)

// Collective is one exchange between devices.
type Collective struct {
	Kind      string // all-gather, all-reduce, reduce-scatter, all-to-all, collective-permute
	Bytes     int64  // of the whole array that each group of devices exchanges; of all-to-all and permutes what each device has
	Groups    [][]int64
	Algorithm string // as the compiler calls it; "" where it does not say
	Async     bool   // begun and ended by instructions of their own, between which others may run
}

// elementBytes are the bytes of types of elements, as xla_data.proto numbers them.
var elementBytes = map[int64]int64{
	1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 16: 2, 19: 1, 20: 1,
}

// bytes are those of the largest array of a shape.
func (s Shape) bytes() int64 {
	n := elementBytes[s.Element] * each.Product(s.Dimensions)
	for _, part := range s.Tuple {
		n = max(n, part.bytes())
	}
	return n
}

// Collectives are the exchanges of a program, in the order in which it lists them. An
// all-reduce of which each device keeps a part, fused, is a reduce-scatter.
func (m *Module) Collectives() []Collective {
	config, thread := map[int64]string{}, map[int64]string{} // of what calls a computation
	for _, c := range slices.Backward(m.Computations) {      // callers are behind what they call
		for _, i := range c.Instructions {
			for _, id := range i.computations {
				if thread[id] = thread[c.id]; i.Opcode == "async-start" {
					thread[id] = cmp.Or(i.Thread, "the core")
				}
				if strings.Contains(i.Config, "collective_algorithm_config") {
					config[id] = i.Config
				}
			}
		}
	}
	var list []Collective
	for _, c := range m.Computations {
		shapes := map[string]Shape{}
		for _, i := range c.Instructions {
			shapes[i.Name] = i.Shape
			kind, async := strings.CutSuffix(i.Opcode, "-start")
			x := Collective{Kind: kind, Groups: i.Groups, Async: async, Bytes: i.Shape.bytes()}
			switch kind {
			case "all-gather", "all-reduce", "all-to-all", "collective-permute":
			case "reduce-scatter":
				for _, o := range i.Operands {
					x.Bytes = max(x.Bytes, shapes[o].bytes())
				}
			default:
				continue
			}
			x.Algorithm = algorithm(i.Config)
			if outer := algorithm(config[c.id]); outer != "" {
				x.Algorithm = outer
				if kind == "all-reduce" && strings.Contains(outer, "ReduceScatter") {
					x.Kind = "reduce-scatter"
				}
			}
			if on := thread[c.id]; on != "" {
				x.Async, x.Algorithm = true, strings.TrimSpace(x.Algorithm+" on "+on)
			}
			list = append(list, x)
		}
	}
	return list
}

// algorithm is what a backend's notes say of a collective.
func algorithm(config string) string {
	var notes struct {
		Algorithm struct {
			Emitter  string `json:"emitter"`
			Strategy string `json:"strategy"`
		} `json:"collective_algorithm_config"`
	}
	if json.Unmarshal([]byte(config), &notes) != nil {
		return ""
	}
	return strings.TrimSpace(notes.Algorithm.Emitter + " " + notes.Algorithm.Strategy)
}
