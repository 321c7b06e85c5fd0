package schedule

import (
	"regexp"
	"strconv"
	"strings"
)

// Transfer is an instruction that moves a block between HBM and VMEM. In the loop
// it is predicated: it runs in the steps whose block differs from the one before.
type Transfer struct {
	Kind     string // hbm_to_vmem, vmem_to_hbm
	Granules int64  // 0 if known only at run time, as for a block that overhangs
}

var (
	transferForm = regexp.MustCompile(`%(\d+) = dma\.(\w+) `)
	granuleForm  = regexp.MustCompile(`/\*size_in_granules=\*/(\d+)`)
)

func (s *Schedule) readTransfers() {
	seen := map[string]bool{}
	for _, b := range s.bundles {
		for _, m := range transferForm.FindAllStringSubmatchIndex(b.text, -1) {
			id, rest := b.text[m[2]:m[3]], b.text[m[1]:]
			// The check of an address names the transfer that it is for.
			if seen[id] || strings.HasSuffix(b.text[:m[0]], " for ") {
				continue
			}
			seen[id] = true
			rest, _, _ = strings.Cut(rest, ";;")
			t := Transfer{Kind: b.text[m[4]:m[5]]}
			if g := granuleForm.FindStringSubmatch(rest); g != nil {
				t.Granules, _ = strconv.ParseInt(g[1], 10, 64)
			}
			s.Transfers = append(s.Transfers, t)
		}
	}
}
