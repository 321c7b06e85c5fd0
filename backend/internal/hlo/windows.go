package hlo

import (
	"encoding/json"
	"strconv"
)

// Windows are the blocks in which a product of XLA's own goes over its arrays, by libtpu's
// note of it. Sides are in tiles of memory, of 8 rows and 128 columns.
type Windows struct {
	Kernel string // the instruction, by which the schedule knows the kernel too
	// Left, Right and Out are rows and columns of a block of each factor and of the product.
	Left, Right, Out [2]int64
	// Blocks are how many there are along n, m and k.
	Blocks [3]int64
}

// Windows lists the products of the program itself of which libtpu notes all of that.
func (m *Module) Windows() []Windows {
	return windowsOf(m.Entry)
}

func windowsOf(c *Computation) []Windows {
	all := []Windows{}
	for _, i := range c.Instructions {
		var note struct {
			Config *struct {
				Left   []string `json:"input_window_bounds"`
				Right  []string `json:"kernel_window_bounds"`
				Out    []string `json:"output_window_bounds"`
				Blocks []string `json:"iteration_bounds"`
			} `json:"window_config"`
		}
		if json.Unmarshal([]byte(i.Config), &note) != nil || note.Config == nil {
			continue
		}
		w := Windows{Kernel: i.Name}
		if whole(w.Left[:], note.Config.Left) && whole(w.Right[:], note.Config.Right) &&
			whole(w.Out[:], note.Config.Out) && whole(w.Blocks[:], note.Config.Blocks) {
			all = append(all, w)
		}
	}
	return all
}

// whole reads positive numbers, as many as there is room for.
func whole(to []int64, from []string) bool {
	if len(from) != len(to) {
		return false
	}
	for i, s := range from {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return false
		}
		to[i] = n
	}
	return true
}
