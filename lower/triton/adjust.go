package triton

import (
	"strconv"

	"matladder/tile"
)

// Adjustments lists parameters one step from what Lower takes for programs with opts:
// each has one name and a value that makes another text, which fits the target. The
// error is Lower's.
func Adjustments(programs []*tile.Program, opts Options) ([]Adjustment, error) {
	plain, err := Lower(programs, opts)
	if err != nil {
		return nil, err
	}
	chosen := plain.Kernels[len(plain.Kernels)-1].Params // of the product: what is made ready for it stands before
	seen := map[string]bool{plain.Module(): true}
	var list []Adjustment
	for _, name := range ParamNames() {
		known := parameters[name]
		now := max(1, *known.field(&chosen))
		steps := []int{now / 2, 2 * now}
		if name == "num_stages" {
			steps = []int{now - 1, now + 1}
		}
		for _, n := range steps {
			with := opts
			if n < 1 || n > known.most {
				continue
			}
			*known.field(&with.Params) = n
			l, err := Lower(programs, with)
			if err != nil { // too big, or not to be parted so
				continue
			}
			if text := l.Module(); !seen[text] {
				seen[text] = true
				list = append(list, Adjustment{name, strconv.Itoa(n)})
			}
		}
	}
	return list, nil
}

// Adjustment is a parameter with its value as both are recorded.
type Adjustment struct{ Name, Value string }
