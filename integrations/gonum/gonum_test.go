package gonum

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"

	"matladder"
)

func open(t testing.TB, small int) *Implementation {
	t.Helper()
	i, err := Open(t.Context(), matladder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i.small = small
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// double is a single precision implementation where gonum's tests want one of double: they
// have none for single. Their numbers for products are exact in both.
type double struct {
	blas.Float32
	gemms int
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func widen(to []float64, x []float32) {
	for i, v := range x {
		to[i] = float64(v)
	}
}

func (d *double) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	d.gemms++
	z := narrow(c)
	d.Sgemm(tA, tB, m, n, k, float32(alpha), narrow(a), lda, narrow(b), ldb, float32(beta), z, ldc)
	widen(c, z)
}

func (d *double) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	z := narrow(c)
	d.Ssymm(s, ul, m, n, float32(alpha), narrow(a), lda, narrow(b), ldb, float32(beta), z, ldc)
	widen(c, z)
}

func (d *double) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	z := narrow(c)
	d.Ssyrk(ul, t, n, k, float32(alpha), narrow(a), lda, float32(beta), z, ldc)
	widen(c, z)
}

func (d *double) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	z := narrow(c)
	d.Ssyr2k(ul, t, n, k, float32(alpha), narrow(a), lda, narrow(b), ldb, float32(beta), z, ldc)
	widen(c, z)
}

func (d *double) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, diag blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	z := narrow(b)
	d.Strmm(s, ul, tA, diag, m, n, float32(alpha), narrow(a), lda, z, ldb)
	widen(b, z)
}

// TestGonumSuite runs gonum's own tests of level 3, in single precision. Those of Dtrsm
// divide, and compare to more digits than a float32 has, gonum's own as well.
func TestGonumSuite(t *testing.T) {
	i := open(t, 0)
	blas32.Use(i)
	defer blas32.Use(gonum.Implementation{})
	d := &double{Float32: blas32.Implementation()}
	testblas.TestDgemm(t, d)
	testblas.DsymmTest(t, d)
	testblas.DsyrkTest(t, d)
	testblas.Dsyr2kTest(t, d)
	testblas.DtrmmTest(t, d)
	if d.gemms == 0 || len(i.programs) == 0 {
		t.Errorf("%d products by %d programs", d.gemms, len(i.programs))
	}
}

// TestSgemm compares with gonum's own over shapes, strides, transpositions and factors, on
// small integers, of which each product is exact; what lies between rows stays.
func TestSgemm(t *testing.T) {
	i := open(t, 0)
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(9) - 4)
		}
		return x
	}
	most := 0
	for range 300 {
		m, n, k := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(70)
		tA, tB := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}[r.IntN(3)], []blas.Transpose{blas.NoTrans, blas.Trans}[r.IntN(2)]
		alpha, beta := []float32{1, 2, 0, -0.5}[r.IntN(4)], []float32{0, 1, 3}[r.IntN(3)]
		side := func(rows, cols int, t blas.Transpose) (x []float32, ld int) {
			if t != blas.NoTrans {
				rows, cols = cols, rows
			}
			ld = cols + r.IntN(2)*r.IntN(20)
			return numbers((rows-1)*ld + cols), ld
		}
		a, lda := side(m, k, tA)
		b, ldb := side(k, n, tB)
		c, ldc := side(m, n, blas.NoTrans)
		want := slices.Clone(c)
		gonum.Implementation{}.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, want, ldc)
		i.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		if !slices.Equal(c, want) {
			t.Fatalf("%c%c %d×%d×%d, lda %d, ldb %d, ldc %d, alpha %v, beta %v: not what gonum has", tA, tB, m, k, n, lda, ldb, ldc, alpha, beta)
		}
		most = max(most, i.recent.Len())
	}
	if most != mostPrograms {
		t.Errorf("%d programs are kept, want %d", most, mostPrograms)
	}
}

// TestSgemm_Mistakes: gonum's panics, with gonum's words.
func TestSgemm_Mistakes(t *testing.T) {
	i := open(t, 0)
	said := func(b blas.Float32, lda, ldc, short int) (words string) {
		defer func() { words = fmt.Sprint(recover()) }()
		b.Sgemm(blas.NoTrans, blas.NoTrans, 40, 40, 40, 1, make([]float32, 1600-short), lda, make([]float32, 1600), 40, 0, make([]float32, 1600), ldc)
		return ""
	}
	for _, test := range [][3]int{{39, 40, 0}, {40, 39, 0}, {40, 40, 1}, {0, 40, 0}, {40, 40, 1600}} {
		if have, want := said(i, test[0], test[1], test[2]), said(gonum.Implementation{}, test[0], test[1], test[2]); have != want || have == "<nil>" {
			t.Errorf("%v: have %q, want %q", test, have, want)
		}
	}
}

// BenchmarkSgemm is each product by both.
func BenchmarkSgemm(b *testing.B) {
	i := open(b, smallProduct)
	for _, n := range []int{16, 64, 256, 1024} {
		x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		for i := range x {
			x[i], y[i] = rand.Float32(), rand.Float32()
		}
		for _, by := range []struct {
			name string
			blas.Float32
		}{{"matladder", i}, {"gonum", gonum.Implementation{}}} {
			b.Run(fmt.Sprintf("%d/%s", n, by.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					by.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
	runtime.KeepAlive(i)
}
