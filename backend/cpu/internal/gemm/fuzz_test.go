package gemm

import (
	"math/rand/v2"
	"testing"
)

// FuzzBlock packs and multiplies random shapes on every path, with blockings of
// any size.
func FuzzBlock(f *testing.F) {
	for path := range uint8(8) {
		f.Add(uint64(path), path, uint8(1), uint8(1), uint16(1), uint8(1), uint8(0))
		f.Add(uint64(path), path, uint8(25), uint8(65), uint16(130), uint8(16), uint8(1))
		f.Add(uint64(path), path, uint8(48), uint8(96), uint16(257), uint8(200), uint8(40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, path, m, n uint8, k uint16, steps, kilobytes uint8) {
		r := rand.New(rand.NewPCG(seed, 7))
		limits := blocking{steps: 1 + int(steps), bytes: int(kilobytes) << 10, near: int(kilobytes) << 8, held: int(kilobytes) << 9}
		rows, cols, depth := 1+int(m)%60, 1+int(n)%110, int(k)%600
		for _, isa := range Supported() {
			table := For(isa)
			switch path % 8 {
			case 0:
				fuzzBlock(t, r, table.Float32, limits, rows, cols, depth)
			case 1:
				fuzzBlock(t, r, table.WideBFloat16, limits, rows, cols, depth)
			case 2:
				fuzzBlock(t, r, table.Int8, limits, rows, cols, depth)
			case 3:
				fuzzBlock(t, r, table.WideInt8, limits, rows, cols, depth)
			case 4:
				fuzzBlock(t, r, table.WideUint8, limits, rows, cols, depth)
			case 5:
				if table.PairsBFloat16 != nil {
					fuzzBlock(t, r, table.PairsBFloat16, limits, rows, cols, depth)
				}
			case 6:
				if table.TilesBFloat16 != nil {
					fuzzBlock(t, r, table.TilesBFloat16, limits, rows, cols, depth)
				}
			case 7:
				if table.TilesInt8 != nil {
					fuzzBlock(t, r, table.TilesInt8, limits, rows, cols, depth)
				}
			}
		}
	})
}

func fuzzBlock[S Source, C Sum](t *testing.T, r *rand.Rand, p *MicroKernels[S, C], limits blocking, m, n, k int) {
	q := *p
	q.blocking = limits
	checkBlock(t, r, &q, m, n, k)
}
