package schedule

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Window is the block of an operand that a step sees.
type Window struct {
	Output bool
	Number int    // of the operand, inputs and outputs apart
	Dtype  string // the compiler's spelling: f32, bf16, s8
	Shape  []int
	Bytes  int64 // 0 if the dtype is not known here
}

// Transfer is an instruction that moves a block between HBM and VMEM. In the loop
// it is predicated: it runs in the steps whose block differs from the one before.
type Transfer struct {
	Bundle   int
	Kind     string // hbm_to_vmem, vmem_to_hbm
	InGrid   bool   // inside the loop over the grid
	Granules int64  // 0 if known only at run time, as for a block that overhangs
	Bytes    int64  // 0 if unknown
}

var (
	windowForm   = regexp.MustCompile(`(input|output) window allocation for operator (?:input|output) (\d+)\. The window shape is (\w+)\[([0-9,]*)\]`)
	transferForm = regexp.MustCompile(`%(\d+) = dma\.(\w+) `)
	granuleForm  = regexp.MustCompile(`/\*size_in_granules=\*/(\d+)`)
	spillForm    = regexp.MustCompile(`(?:sst \[smem|sld \[smem):\[#allocation\d+_spill\]`)
)

// readMemory reads windows, transfers and scalar spills.
func (s *Schedule) readMemory() {
	seen := map[string]bool{}
	for i, b := range s.bundles {
		for _, m := range windowForm.FindAllStringSubmatch(b.text, -1) {
			s.addWindow(m)
		}
		for _, m := range transferForm.FindAllStringSubmatchIndex(b.text, -1) {
			id, rest := b.text[m[2]:m[3]], b.text[m[1]:]
			// The check of an address names the transfer that it is for.
			if seen[id] || strings.HasSuffix(b.text[:m[0]], " for ") {
				continue
			}
			seen[id] = true
			rest, _, _ = strings.Cut(rest, ";;")
			t := Transfer{Bundle: i, Kind: b.text[m[4]:m[5]]}
			if g := granuleForm.FindStringSubmatch(rest); g != nil {
				t.Granules, _ = strconv.ParseInt(g[1], 10, 64)
			}
			t.InGrid = b.depth > 0
			s.Transfers = append(s.Transfers, t)
		}
		s.ScalarSpills += len(spillForm.FindAllString(b.text, -1))
	}
	size := s.granule()
	for i := range s.Transfers {
		s.Transfers[i].Bytes = s.Transfers[i].Granules * size
	}
}

// addWindow takes the parts of windowForm.
func (s *Schedule) addWindow(m []string) {
	w := Window{Output: m[1] == "output", Dtype: m[3]}
	w.Number, _ = strconv.Atoi(m[2])
	size := int64(bits(w.Dtype))
	if m[4] != "" {
		for _, f := range strings.Split(m[4], ",") {
			n, _ := strconv.Atoi(f)
			w.Shape = append(w.Shape, n)
			size *= int64(n)
		}
	}
	w.Bytes = size / 8
	if !slices.ContainsFunc(s.Windows, func(o Window) bool { return o.Output == w.Output && o.Number == w.Number }) {
		s.Windows = append(s.Windows, w)
	}
}

var dtypeForm = regexp.MustCompile(`^(?:f|bf|s|u)(\d+)(?:e\d+m\d+\w*)?$`)

// bits is the size of a dtype as XLA spells it; 0 if it is unknown.
func bits(dtype string) int {
	m := dtypeForm.FindStringSubmatch(dtype)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// granule is the unit of transfers in bytes. The dump does not tell it, but every
// transfer of a whole block must fit a window: the one power of two for which all
// do, or 0.
func (s *Schedule) granule() int64 {
	found := int64(0)
	for g := int64(1); g <= 4096; g *= 2 {
		fits, some := true, false
		for _, t := range s.Transfers {
			if t.Granules == 0 {
				continue
			}
			some = true
			fits = fits && slices.ContainsFunc(s.Windows, func(w Window) bool {
				return w.Output == (t.Kind == "vmem_to_hbm") && w.Bytes == t.Granules*g
			})
		}
		if !fits || !some {
			continue
		}
		if found != 0 {
			return 0
		}
		found = g
	}
	return found
}
