package cpu

import (
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestGroups multiplies operands whose groups of k have scales, in shapes whose last group is short,
// whose blocks end with whole groups past the end, or are parts of one, and compares with float64. The
// loop over groups is one product where a micro-kernel or packing takes the scales in.
func TestGroups(t *testing.T) {
	const k = 430
	run := thoroughtest.Choose(1, 13, 41)
	for _, isa := range gemm.Supported() {
		be := open(t, Options{Threads: 2, ISA: isa.String()})()
		for _, c := range []struct {
			operands string
			taken    bool
		}{
			{"mxfp4", true}, {"mxfp8", true}, {"nvfp4", true}, {"mxint8", true}, {"mxfp8xmxfp4", true}, {"bfloat16xmxfp4:dynamic", true},
			{"bfloat16xmxfp4", true}, {"bfloat16xmxfp8", true}, {"bfloat16xmxint8", true}, {"bfloat16xnvfp4", true},
			{"float16xmxfp4", true}, {"float32xmxfp8", true}, {"float32xint4:per_block32", true},
			{"int8:per_block32+token_block", true}, {"int8xint4:per_block64+token", true},
			{"int8:per_block20+token_block", false}, {"int8:per_block32+token_block+zero_b", false},
			{"bfloat16xint4:per_block32", false}, {"float8_e4m3fn:per_block32+token_block", false},
		} {
			for _, size := range [][3]int{{1, 602, 1}, {3, 201, 1}, {17, 64, 3}, {50, 601, 1}} {
				if !run() {
					continue
				}
				asked, err := problem.MatmulFamily.Parse(c.operands)
				if err != nil {
					t.Fatal(err)
				}
				m, n := size[0], size[1]
				p := problem.MakeMatmul(problem.Sizes{m, k, n, size[2]}, asked)
				taken := c.taken
				inPlace := false // by few rows
				if k := gemm.For(isa); k.PairsBFloat16 != nil && k.ThinBFloat16 == k.PairsBFloat16 {
					inPlace = p.A != tile.Int8 && p.A.Bits() <= 16 && p.A != tile.Float16 && p.B.Bits() == 4 && n%2 == 0
				}
				if isa == gemm.Generic && p.B.IsInteger() && p.A == tile.Int8 {
					taken = false // no micro-kernel in Go
				}
				if taken = inPlace || taken; m == 1 {
					taken = inPlace
				}
				scheme, err := p.Scheme()
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("%s/%s/%dx%d", isa, c.operands, m, n), func(t *testing.T) {
					for _, blocks := range []tile.Blocks{{M: m, K: k, N: n}, tile.Blocks{M: 32, K: 320, N: 128}.Clip(m, k, n), {M: m, K: 5, N: n}, {M: m, K: 8, N: n}} {
						programs, err := problemtest.Kernel(p).Build(p, "", blocks)
						if err != nil { // not a whole part of a group
							continue
						}
						checkRun(t, "blocks "+blocks.String(), be, programs, p, backend.Params{})
						e, err := be.compile(t.Context(), programs, backend.Params{})
						if err != nil {
							t.Fatal(err)
						}
						if is := strings.Contains(e.Print(nil, false), "is one product"); is != (taken && blocks.K > scheme.Block) {
							t.Errorf("blocks %s: one product is %v", blocks, is)
						}
						e.Close()
					}
				})
			}
		}
		be.Close()
	}
}
