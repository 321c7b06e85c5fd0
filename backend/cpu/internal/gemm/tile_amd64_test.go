package gemm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

func floatTwins(t testing.TB) []twins[float32] {
	s := []twins[float32]{
		{"tileFloat32AVX2", AVX2, 6, 16, tileFloat32AVX2, tileFloat32(6, 16), smallFloat},
		{"tileFloat32AVX512", AVX512, 12, 32, tileFloat32AVX512, tileFloat32(12, 32), smallFloat},
	}
	if !cpu.X86.HasAVX512BF16 {
		t.Log("not tested on this machine, which lacks avx512bf16: tileBFloat16AVX512")
		return s
	}
	return append(s,
		twins[float32]{"tileBFloat16AVX512", AVX512, 12, 32, tileBFloat16AVX512, tileBFloat16(12, 32), bfloat16Pairs})
}

func intTwins(t testing.TB) []twins[int32] {
	s := []twins[int32]{
		{"tilePairsAVX2", AVX2, 6, 16, tilePairsAVX2, tilePairs(6, 16), bytePairs},
		{"tilePairsAVX512", AVX512, 12, 32, tilePairsAVX512, tilePairs(12, 32), bytePairs},
	}
	if cpu.X86.HasAVXVNNI {
		s = append(s,
			twins[int32]{"tilePairsVNNIAVX2", AVX2, 6, 16, tilePairsVNNIAVX2, tilePairs(6, 16), bytePairs},
			twins[int32]{"tileQuadsAVX2", AVX2, 6, 16, tileQuadsAVX2, tileQuads(6, 16), anyBits})
	} else {
		t.Log("not tested on this machine, which lacks avxvnni: tilePairsVNNIAVX2, tileQuadsAVX2, panelBiasAVX2, rowsBiasAVX2")
	}
	if cpu.X86.HasAVX512VNNI {
		s = append(s,
			twins[int32]{"tilePairsVNNIAVX512", AVX512, 12, 32, tilePairsVNNIAVX512, tilePairs(12, 32), bytePairs},
			twins[int32]{"tileQuadsAVX512", AVX512, 12, 32, tileQuadsAVX512, tileQuads(12, 32), anyBits})
	} else {
		t.Log("not tested on this machine, which lacks avx512vnni: tilePairsVNNIAVX512, tileQuadsAVX512, panelBiasAVX512, rowsBiasAVX512")
	}
	return s
}

// withThin is a list with those called thin, which compute the same.
func withThin[C Sum](list []twins[C]) []twins[C] {
	thin := map[string]any{
		"tileFloat32AVX2": tile[float32](thinFloat32AVX2), "tileFloat32AVX512": tile[float32](thinFloat32AVX512),
		"tileBFloat16AVX512": tile[float32](thinBFloat16AVX512),
		"tileQuadsAVX2":      tile[int32](thinQuadsAVX2), "tileQuadsAVX512": tile[int32](thinQuadsAVX512),
	}
	for _, x := range list {
		if fast, ok := thin[x.name].(tile[C]); ok {
			x.name, x.fast = strings.Replace(x.name, "tile", "thin", 1), fast
			list = append(list, x)
		}
	}
	return list
}

func TestTile(t *testing.T) {
	for _, x := range withThin(floatTwins(t)) {
		testTile(t, x)
	}
	for _, x := range withThin(intTwins(t)) {
		testTile(t, x)
	}
}

func FuzzTile(f *testing.F) {
	for which := range uint8(14) {
		f.Add(uint64(which), which, uint8(0), uint8(0), uint8(0), uint8(3))
		f.Add(uint64(which), which, uint8(11), uint8(31), uint8(39), uint8(0))
	}
	var floats []*tileCase[float32]
	var ints []*tileCase[int32]
	for _, x := range withThin(floatTwins(f)) {
		if len(x.isa.Missing()) == 0 {
			floats = append(floats, newTileCase(f, x))
		}
	}
	for _, x := range withThin(intTwins(f)) {
		if len(x.isa.Missing()) == 0 {
			ints = append(ints, newTileCase(f, x))
		}
	}
	if len(floats)+len(ints) == 0 {
		f.Skip("this machine has no tile in assembly")
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols, steps, options uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		if i := int(which) % (len(floats) + len(ints)); i < len(floats) {
			fuzzTile(t, floats[i], r, rows, cols, steps, options)
		} else {
			fuzzTile(t, ints[i-len(floats)], r, rows, cols, steps, options)
		}
	})
}

func fuzzTile[C Sum](t *testing.T, x *tileCase[C], r *rand.Rand, rows, cols, steps, options uint8) {
	x.TB = t
	x.check(r, 1+int(rows)%x.mr, 1+int(cols)%x.nr, 1+int(steps)%maxSteps, int(options)%4)
}

func TestBias(t *testing.T) {
	for _, x := range []struct {
		name  string
		runs  bool
		mr    int
		panel func(dst, a *uint32, steps int)
		rows  func(dst, a *uint32, lda, steps, rows int)
	}{
		{"AVX2", cpu.X86.HasAVXVNNI, 6, panelBiasAVX2, rowsBiasAVX2},
		{"AVX512", cpu.X86.HasAVX512VNNI && len(AVX512.Missing()) == 0, 12, panelBiasAVX512, rowsBiasAVX512},
	} {
		t.Run(x.name, func(t *testing.T) {
			if !x.runs {
				t.Skip("this machine lacks VNNI of this instruction set")
			}
			r := rand.New(rand.NewPCG(1, 2))
			for steps := 1; steps < 70; steps++ {
				panel := fencedWords(t, r, steps*x.mr, anyBits)
				got, want := fenced[uint32](t, x.mr), make([]uint32, x.mr)
				panelBias(x.mr)(&want[0], &panel[0], steps)
				x.panel(&got[0], &panel[0], steps)
				if !slices.Equal(got, want) {
					t.Fatalf("panel of %d steps: %d, want %d", steps, got, want)
				}
				rows, lda := 1+r.IntN(14), steps+r.IntN(3)
				a := fencedWords(t, r, (rows-1)*lda+steps, anyBits)
				got, want = fenced[uint32](t, ceil(rows, biasRows)*biasRows), make([]uint32, rows)
				rowsBias(&want[0], &a[0], lda*wordBytes, steps, rows)
				x.rows(&got[0], &a[0], lda*wordBytes, steps, rows)
				if !slices.Equal(got[:rows], want) {
					t.Fatalf("%d rows of %d steps, lda %d: %d, want %d", rows, steps, lda, got[:rows], want)
				}
			}
		})
	}
}
