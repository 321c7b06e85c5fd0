package gemm

import (
	"fmt"
	"math/rand/v2"
	"matladder/backend/cpu/internal/memory"
	"testing"
)

// BenchmarkInPlace multiplies blocks of weights that are stored in few bits, on one
// core: those of a layer, one after another.
func BenchmarkInPlace(b *testing.B) {
	k := For(AVX2)
	if k == nil {
		b.Skip("this machine lacks", AVX2.Missing())
	}
	s := k.Float32.InPlace
	for _, m := range []int{1, 2, 4, 6, 16, 64} {
		for _, name := range []string{"int4", "int8", "float8_e4m3fn", "float8_e5m2"} {
			benchInPlace(b, s[name], m)
		}
		benchInPlace(b, k.WideInt8.InPlace["int4"], m)
	}
}

func benchInPlace[C Sum](b *testing.B, p *InPlace[C], m int) {
	const k, n, ld = 1024, 1024, 6144
	a := memory.NewBuffer(ceil(m, p.mr) * p.mr * ceil(k, p.ku) * wordBytes)
	mem := memory.NewBuffer(4096 * ld * p.bits / 8)
	for i := range mem {
		mem[i] = byte(rand.Uint32())&0xef | 0x20 // no NaN and no denormal number of float8
	}
	c := make([]C, m*n)
	block := 0
	b.Run(fmt.Sprintf("%T/%s/%d", c[0], p.Name, m), func(b *testing.B) {
		seconds := best(b, func() {
			block = (block + 1) % 24
			p.Block(c, n, m, n, k, a, mem, block/6*k*ld+block%6*n, ld, block > 0, nil, GroupsOfB{})
		})
		b.ReportMetric(float64(k*n*p.bits/8)/seconds/1e9, "GB/s")
		b.ReportMetric(2*float64(m*k*n)/seconds/1e9, "GFLOP/s")
	})
}
