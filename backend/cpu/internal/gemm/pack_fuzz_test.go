package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"matladder/backend/cpu/internal/gemm/pack"
)

// FuzzPack compares every packer with the one in Go of the same encoding, on
// memory that ends at a page nobody may read.
func FuzzPack(f *testing.F) {
	for path := range uint8(8) {
		f.Add(uint64(path), path, uint8(0), uint8(0), uint8(0))
		f.Add(uint64(path), path, uint8(12), uint8(63), uint8(2))
		f.Add(uint64(path), path, uint8(69), uint8(66), uint8(0))
		f.Add(uint64(path), path, uint8(31), uint8(131), uint8(40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, path, extent, k, gap uint8) {
		r := rand.New(rand.NewPCG(seed, 11))
		for _, isa := range Supported() {
			table := For(isa)
			lanes, deep, apart := 1+int(extent), 1+int(k), int(gap)
			switch path % 8 {
			case 0:
				fuzzPack(t, r, table.Float32, pack.AsFloat32, pack.AsFloat32, lanes, deep, apart)
			case 1:
				fuzzPack(t, r, table.WideBFloat16, pack.AsBFloat16, pack.AsBFloat16, lanes, deep, apart)
			case 2:
				if p := table.PairsBFloat16; p != nil {
					fuzzPack(t, r, p, pack.AsPairsBFloat16, pack.AsPairsBFloat16, lanes, deep, apart)
				}
			case 3:
				fuzzPack(t, r, table.WideInt8, pack.AsPairs, pack.AsPairs, lanes, deep, apart)
			case 4:
				fuzzPack(t, r, table.WideUint8, pack.AsPairsU, pack.AsPairsU, lanes, deep, apart)
			case 5:
				if p := table.Int8; p.Format == formatQuads {
					fuzzPack(t, r, p, pack.AsQuads, pack.AsOffsetQuads, lanes, deep, apart)
				}
			case 6:
				if p := table.TilesBFloat16; p != nil {
					fuzzPackTiles(t, r, p, pack.AsPairsBFloat16, lanes, deep, apart)
				}
			case 7:
				if p := table.TilesInt8; p != nil {
					fuzzPackTiles(t, r, p, pack.AsQuads, lanes, deep, apart)
				}
			}
		}
	})
}

func fuzzPack[S Source, C Sum](t *testing.T, r *rand.Rand, p *MicroKernels[S, C], a, b pack.Encoding[S], extent, k, gap int) {
	fuzzPacker(t, r, p.Name+", a", p.packA, pack.Go(p.MR, a), p.MR, p.PanelA(k), extent, k, gap)
	fuzzPacker(t, r, p.Name+", b", p.packB, pack.Go(p.NR, b), p.NR, p.PanelB(k), extent, k, gap)
}

func fuzzPackTiles[S Source, C Sum](t *testing.T, r *rand.Rand, p *MicroKernels[S, C], e pack.Encoding[S], extent, k, gap int) {
	fuzzPacker(t, r, p.Name+", a", p.packA, packTilesGo(e), p.MR, p.PanelA(k), extent, k, gap)
	// b is packed as for vectors, from a source with zeros up to a whole step.
	deep := ceil(k, p.KU) * p.KU
	twin := pack.Go(p.NR, e)
	fuzzPacker(t, r, p.Name+", b", p.packB, pack.Packer[S]{
		Rows: func(dst []uint32, src []S, ld, extent, k int) {
			padded := make([]S, extent*deep)
			for i := range extent {
				copy(padded[i*deep:], src[i*ld:][:k])
			}
			twin.Rows(dst, padded, deep, extent, deep)
		},
		Columns: func(dst []uint32, panel int, src []S, ld, extent, k int) {
			padded := make([]S, extent*deep)
			for l := range k {
				copy(padded[l*extent:], src[l*ld:][:extent])
			}
			twin.Columns(dst, panel, padded, extent, extent, deep)
		},
	}, p.NR, p.PanelB(k), extent, k, gap)
}

// fuzzPacker compares packers of panels of width lanes and some bytes. Those of
// columns may lie apart.
func fuzzPacker[S Source](t *testing.T, r *rand.Rand, name string, fast, twin pack.Packer[S], width, bytes, extent, k, gap int) {
	const front = 16 // a cache line of words before the panel, which is not to be written
	panel, panels := bytes/wordBytes, ceil(extent, width)
	apart := panel + r.IntN(3)*16
	for _, pack := range []struct {
		name       string
		fast, twin func(dst []uint32, src []S)
		size       int
		rows, ld   int
	}{
		{"rows",
			func(dst []uint32, src []S) { fast.Rows(dst, src, k+gap, extent, k) },
			func(dst []uint32, src []S) { twin.Rows(dst, src, k+gap, extent, k) },
			panels * panel, extent, k + gap},
		{"columns",
			func(dst []uint32, src []S) { fast.Columns(dst, apart, src, extent+gap, extent, k) },
			func(dst []uint32, src []S) { twin.Columns(dst, apart, src, extent+gap, extent, k) },
			(panels-1)*apart + panel, k, extent + gap},
	} {
		memory, want := fenced[uint32](t, front+pack.size), make([]uint32, front+pack.size)
		src := fenced[S](t, (pack.rows-1)*pack.ld+pack.ld-gap)
		for i := range src {
			src[i] = S(r.Uint32())
		}
		for i := range memory {
			memory[i], want[i] = 0xdeadbeef, 0xdeadbeef
		}
		before := slices.Clone(src)
		pack.twin(want[front:], src)
		pack.fast(memory[front:], src)
		if !slices.Equal(src, before) {
			t.Fatalf("%s, %s, %d×%d: the source changed", name, pack.name, extent, k)
		}
		for i := range want {
			if memory[i] != want[i] {
				t.Fatalf("%s, %s, %d×%d, ld %d, panels %d apart: word %d is %#x, want %#x",
					name, pack.name, extent, k, pack.ld, apart, i-front, memory[i], want[i])
			}
		}
	}
}
