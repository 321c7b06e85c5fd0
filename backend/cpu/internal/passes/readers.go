package passes

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
)

// directReader reads a b of elements as they are multiplied.
type directReader[S gemm.Source, C gemm.Sum] struct{ *gemm.MicroKernels[S, C] }

func (r directReader[S, C]) Rows() int           { return r.DirectRows() }
func (r directReader[S, C]) Work(m, ldb int) int { return r.DirectWork(m, ldb) }

func (r directReader[S, C]) Blocking(m, n, k, ldb int) (run, cols, tile int) {
	return r.BlockingDirect(m, n, k, ldb)
}

func (r directReader[S, C]) Multiply(x plan.Call) {
	r.MultiplyDirect(runOf[S](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[S](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
}

// dotsReader reads a b whose columns are rows of memory.
type dotsReader[S gemm.Source, C gemm.Sum] struct{ *gemm.MicroKernels[S, C] }

func (r dotsReader[S, C]) Rows() int                                   { return r.DotsRows() }
func (dotsReader[S, C]) Read(_, _ int) gemm.ReadB                      { return gemm.ReadDots }
func (dotsReader[S, C]) Work(_, _ int) int                             { return 0 }
func (dotsReader[S, C]) Blocking(_, n, k, _ int) (run, cols, tile int) { return k, n, 1 }

func (r dotsReader[S, C]) Multiply(x plan.Call) {
	r.MultiplyDots(runOf[S](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[S](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
}

// inPlaceReader reads a b of elements narrower than are multiplied, and widens them.
type inPlaceReader[C gemm.Sum] struct{ *gemm.InPlace[C] }

func (r inPlaceReader[C]) Rows() int { return r.Pays }

func (r inPlaceReader[C]) Multiply(x plan.Call) {
	r.Block(memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, x.A.Mem, x.B.Mem, x.B.Off, x.B.LD, x.Accumulate, x.Work)
}
