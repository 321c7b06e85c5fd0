package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/memory"
)

// A directTwins is a direct in assembly; its twin packs b in Go and runs the
// twin of the tile.
type directTwins[S Source, C Sum] struct {
	name string
	path *MicroKernels[S, C]
	twin kernel[C]
	word func(*rand.Rand) uint32 // as a packed word of a or b
	bits pack.Encoding[S]
}

// eachDirect calls the function of the type of each direct of this machine.
func eachDirect(t testing.TB, floats func(directTwins[float32, float32]), halves func(directTwins[uint16, float32]),
	bytes func(directTwins[int8, int32])) {
	wide := func(r *rand.Rand) uint32 { return smallFloat(r) &^ 0xffff }
	if k := For(AVX2); k != nil {
		floats(directTwins[float32, float32]{"avx2 float32", k.Float32, kernel[float32]{tile: tileFloat32(6, 16)}, smallFloat, pack.AsFloat32})
		halves(directTwins[uint16, float32]{"avx2 bfloat16 widened", k.WideBFloat16, kernel[float32]{tile: tileFloat32(6, 16)}, wide, pack.AsBFloat16})
		bytes(directTwins[int8, int32]{"avx2 int8", k.WideInt8, kernel[int32]{tile: tilePairs(6, 16)}, bytePairs, pack.AsPairs})
	} else {
		t.Logf("not tested on this machine, which lacks %q: directs", AVX2.Missing())
	}
	k := For(AVX512)
	if k == nil {
		t.Logf("not tested on this machine, which lacks %q: directs", AVX512.Missing())
		return
	}
	floats(directTwins[float32, float32]{"float32", k.Float32, kernel[float32]{tile: tileFloat32(12, 32)}, smallFloat, pack.AsFloat32})
	halves(directTwins[uint16, float32]{"bfloat16 widened", k.WideBFloat16, kernel[float32]{tile: tileFloat32(12, 32)}, wide, pack.AsBFloat16})
	if k.Int8.DirectRows() > 0 {
		bytes(directTwins[int8, int32]{"int8", k.Int8, kernel[int32]{tile: tileQuads(12, 32), bias: panelBias(12)}, anyBits, pack.AsOffsetQuads})
	} else {
		t.Log("not tested on this machine, which lacks avx512vnni: directQuadsAVX512")
	}
	if k.PairsBFloat16 == nil {
		t.Log("not tested on this machine, which lacks avx512bf16: directBFloat16AVX512")
		return
	}
	halves(directTwins[uint16, float32]{"bfloat16 pairs", k.PairsBFloat16, kernel[float32]{tile: tileBFloat16(12, 32)}, bfloat16Pairs, pack.AsPairsBFloat16})
}

func TestDirect(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	eachDirect(t, func(x directTwins[float32, float32]) { testDirect(t, r, x) }, func(x directTwins[uint16, float32]) { testDirect(t, r, x) },
		func(x directTwins[int8, int32]) { testDirect(t, r, x) })
}

func testDirect[S Source, C Sum](t *testing.T, r *rand.Rand, x directTwins[S, C]) {
	t.Run(x.name, func(t *testing.T) {
		for which, tile := range x.path.direct.tiles {
			for rows := 1; rows <= tile.rows; rows++ {
				for cols := 1; cols <= tile.cols; cols++ {
					checkDirect(t, r, x, which, rows, cols, 1+r.IntN(11))
				}
			}
			for steps := 1; steps <= maxSteps; steps++ {
				checkDirect(t, r, x, which, 1+r.IntN(tile.rows), 1+r.IntN(tile.cols), steps)
			}
		}
		for steps := 1; steps <= maxSteps && x.path.direct.packing != nil; steps++ {
			checkDirect(t, r, x, len(x.path.direct.tiles), x.path.MR, 1+r.IntN(x.path.NR), steps)
		}
	})
}

func FuzzDirect(f *testing.F) {
	for which := range uint8(7) {
		f.Add(uint64(which), which, uint8(0), uint8(0), uint8(0))
		f.Add(uint64(which), which, uint8(11), uint8(31), uint8(39))
		f.Add(uint64(which), which, uint8(3), uint8(16), uint8(6))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols, steps uint8) {
		r := rand.New(rand.NewPCG(seed, 13))
		var checks []func()
		add := func(check func()) { checks = append(checks, check) }
		deep := 1 + int(steps)%maxSteps
		eachDirect(t,
			func(x directTwins[float32, float32]) {
				add(func() { fuzzDirect(t, r, x, int(rows), int(cols), deep) })
			},
			func(x directTwins[uint16, float32]) {
				add(func() { fuzzDirect(t, r, x, int(rows), int(cols), deep) })
			},
			func(x directTwins[int8, int32]) {
				add(func() { fuzzDirect(t, r, x, int(rows), int(cols), deep) })
			})
		if len(checks) > 0 {
			checks[int(which)%len(checks)]()
		}
	})
}

func fuzzDirect[S Source, C Sum](t *testing.T, r *rand.Rand, x directTwins[S, C], rows, cols, steps int) {
	which := r.IntN(len(x.path.direct.tiles) + 1)
	if which == len(x.path.direct.tiles) {
		if x.path.direct.packing != nil {
			checkDirect(t, r, x, which, x.path.MR, 1+cols%x.path.NR, steps)
		}
		return
	}
	tile := x.path.direct.tiles[which]
	checkDirect(t, r, x, which, 1+rows%tile.rows, 1+cols%tile.cols, steps)
}

// checkDirect compares the whole memory of c after a tile and its twin, for an a that is packed or
// that lies in rows. Of those with tiles of each width, one has at least so many columns that some
// are in its last vector. The tile behind the last is packing, whose panels are compared too.
func checkDirect[S Source, C Sum](t *testing.T, r *rand.Rand, x directTwins[S, C], which, rows, cols, steps int) {
	t.Helper()
	p := x.path
	packs := which == len(p.direct.tiles)
	tile := directTile[C]{p.direct.packing, p.MR, p.NR}
	if !packs {
		tile = p.direct.tiles[which]
	}
	if which > 0 && !packs {
		cols = max(cols, p.direct.tiles[which-1].cols+1)
	}
	if !p.direct.whole || cols == tile.cols {
		cols += r.IntN(2) * tile.cols
	}
	a := fencedWords(t, r, steps*p.MR, x.word)
	from, lda, apart := a, wordBytes, p.MR*wordBytes
	if r.IntN(2) == 0 {
		row := steps + r.IntN(3)
		from, lda, apart = fencedWords(t, r, (rows-1)*row+steps, x.word), row*wordBytes, wordBytes
		for i := range rows {
			for l := range steps {
				from[i*row+l] = a[l*p.MR+i]
			}
		}
	}
	ldb, ldc := cols+r.IntN(5), cols+r.IntN(5)
	reach := cols
	if p.direct.whole {
		reach = max(cols, p.NR)
		ldb = max(ldb, reach)
	}
	b := fenced[S](t, (steps*p.KU-1)*ldb+reach)
	for i := range b {
		w := x.word(r)
		if p.KU == 1 && memory.Size[S]() == 2 {
			w >>= 16
		}
		b[i] = *(*S)(unsafe.Pointer(&w))
	}
	const guard = 7
	c := fenced[C](t, guard+(rows-1)*ldc+cols)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	want := slices.Clone(c)
	accumulate := r.IntN(2) == 0

	var bias *C
	if x.twin.bias != nil {
		bias = randomBias[C](t, r, 2*p.MR) // a whole tile from any row on
	}
	panels := make([]uint32, ceil(cols, p.NR)*steps*p.NR)
	for j := 0; j < cols; j += p.NR {
		some, panel := min(p.NR, cols-j), panels[j*steps:][:steps*p.NR]
		pack.Go(p.NR, x.bits).Columns(panel, len(panel), b[j:], ldb, some, steps*p.KU)
		x.twin.tile(&want[guard+j], ldc, steps, &a[0], &panel[0], bias, 0, rows, some, accumulate)
	}
	ahead, height, written := r.IntN(1<<14), 1+r.IntN(tile.rows), fenced[uint32](t, len(panels))
	if packs {
		ahead, height = int(address(&written[0])), rows
	}
	tile.run(&c[guard], ldc, steps, &from[0], lda, apart, at(b, 0), ldb*memory.Size[S](), ahead, r.IntN(1<<10), height, rows, cols, bias, accumulate)
	for i := 0; packs && i < len(panels); i++ {
		if j := i/(steps*p.NR)*p.NR + i%p.NR; j < cols && written[i] != panels[i] {
			t.Fatalf("%s: word %d of panels of %d columns and %d steps is %#x, want %#x", x.name, i, cols, steps, written[i], panels[i])
		}
	}
	sameMemory(t, c, want, guard, "%s, tile of %d columns, %d×%d of %d steps, rows of a %d bytes apart, accumulate %v, ldb %d, ldc %d",
		x.name, tile.cols, rows, cols, steps, lda, accumulate, ldb, ldc)
}
