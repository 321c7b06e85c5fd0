// Package gonum is matladder as gonum's BLAS for float32:
//
//	blas, err := gonum.Open(ctx, matladder.Options{})
//	…
//	defer blas.Close()
//	blas32.Use(blas)
//
// Sgemm runs on matladder; all else, and products too small to gain from it, on gonum's own
// implementation, whose rules for arguments hold: what breaks them is a panic with gonum's words.
package gonum

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// Implementation is a blas.Float32. Several goroutines may use it at once.
type Implementation struct {
	gonum.Implementation

	options matladder.Options
	anchor  *matladder.Program // keeps the threads while no product is compiled
	small   int                // products of fewer multiplications are gonum's

	mu       sync.Mutex
	programs map[product]*list.Element
	recent   *list.List // of *entry, the one used last first
	closed   bool
}

var _ blas.Float32 = (*Implementation)(nil)

// product is what a program is compiled for: whatever lies in Go memory apart.
type product struct {
	m, n, k        int
	transA, transB bool
	form           form
}

// form is which of the terms of alpha·a·b + beta·c there are.
type form uint8

const (
	plain  form = iota // a·b
	scaled             // alpha·a·b
	added              // alpha·a·b + beta·c
)

type entry struct {
	product
	program *matladder.Program
}

// How many programs are kept, and from how many multiplications on they are worth a launch.
const (
	mostPrograms = 64
	smallProduct = 32 * 32 * 32
)

// Open starts the threads on which products run. The options that it heeds are Threads and Params.
func Open(ctx context.Context, o matladder.Options) (*Implementation, error) {
	o = matladder.Options{Threads: o.Threads, Params: o.Params}
	one := o
	one.Blocks = tile.Blocks{M: 1, K: 1, N: 1}
	anchor, err := matladder.Compile(ctx, problem.New(1, 1, 1, tile.Float32), one)
	if err != nil {
		return nil, err
	}
	return &Implementation{options: o, anchor: anchor, small: smallProduct, programs: map[product]*list.Element{}, recent: list.New()}, nil
}

// Close frees all memory and ends the threads. Products are then computed by gonum.
func (i *Implementation) Close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	errs := []error{i.anchor.Close()}
	for e := i.recent.Front(); e != nil; e = e.Next() {
		errs = append(errs, e.Value.(*entry).program.Close())
	}
	i.recent.Init()
	clear(i.programs)
	return errors.Join(errs...)
}

// Sgemm is c = alpha·a·b + beta·c, where a and b may be transposed.
func (i *Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !i.multiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// multiply reports whether the product was computed. What it leaves is too small, breaks a
// rule, or cannot be compiled.
func (i *Implementation) multiply(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) bool {
	p := product{m: m, n: n, k: k, transA: tA != blas.NoTrans, transB: tB != blas.NoTrans, form: added}
	switch {
	case m < 1 || n < 1 || k < 1 || alpha == 0 || m < i.small/n/k:
		return false
	case tA != blas.NoTrans && tA != blas.Trans && tA != blas.ConjTrans, tB != blas.NoTrans && tB != blas.Trans && tB != blas.ConjTrans:
		return false
	case beta == 0 && alpha == 1:
		p.form = plain
	case beta == 0:
		p.form = scaled
	}
	x, okA := matrix(a, p.transA, m, k, lda)
	y, okB := matrix(b, p.transB, k, n, ldb)
	z, okC := matrix(c, false, m, n, ldc)
	if !okA || !okB || !okC {
		return false
	}
	ctx := context.Background()
	in := make([]matladder.Tensor, 0, 5)
	in = append(in, x, y)
	switch p.form {
	case scaled:
		in = append(in, matladder.Of([]float32{alpha}, 1, 1))
	case added:
		in = append(in, matladder.Of([]float32{alpha}, 1, 1), matladder.Of([]float32{beta}, 1, 1), z)
	}
	for {
		program, err := i.find(ctx, p)
		if err != nil {
			return false
		}
		err = program.Run(ctx, z, in...)
		if !errors.Is(err, matladder.ErrClosed) { // else another product took its place meanwhile
			return err == nil
		}
	}
}

// matrix is an operand of rows×cols, or its transposed where it lies so; false if the slice
// is too short or its rows overlap.
func matrix(x []float32, transposed bool, rows, cols, ld int) (matladder.Tensor, bool) {
	if transposed {
		rows, cols = cols, rows
	}
	if ld < cols || rows-1 > (len(x)-cols)/ld || len(x) < cols {
		return matladder.Tensor{}, false
	}
	shape, strides := [2]int{rows, cols}, [2]int{ld, 1}
	return matladder.Strided(x, shape[:], strides[:]), true
}

// find returns a program for products, compiling it if there is none.
func (i *Implementation) find(ctx context.Context, p product) (*matladder.Program, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, errors.New("gonum: closed")
	}
	if e, ok := i.programs[p]; ok {
		i.recent.MoveToFront(e)
		return e.Value.(*entry).program, nil
	}
	program, err := i.compile(ctx, p)
	if err != nil {
		return nil, err
	}
	i.programs[p] = i.recent.PushFront(&entry{p, program})
	if i.recent.Len() > mostPrograms {
		last := i.recent.Remove(i.recent.Back()).(*entry)
		delete(i.programs, last.product)
		return program, last.program.Close()
	}
	return program, nil
}

// compile writes p as a tile program, in blocks that the plain product would have.
func (i *Implementation) compile(ctx context.Context, p product) (*matladder.Program, error) {
	s, err := matladder.Blocks(ctx, problem.New(p.m, p.k, p.n, tile.Float32), i.options)
	if err != nil {
		return nil, err
	}
	o := i.options
	if p.form == added {
		o.InPlace = map[string]string{"o": "c"}
	}
	programs, err := p.write(s)
	if err != nil {
		return nil, err
	}
	return matladder.CompileTile(ctx, programs, o)
}

// write is the product as a tile program.
func (p product) write(s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("sgemm")
	i := t.Axis("i", tile.Ceil(p.m, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.n, s.N), tile.Parallel)
	l := t.Axis("l", tile.Ceil(p.k, s.K), tile.Arbitrary)

	operand := func(name string, transposed bool, rows, cols, bm, bn int, x, y *tile.Axis) *tile.Ref {
		if transposed {
			rows, cols, bm, bn, x, y = cols, rows, bn, bm, y, x
		}
		return t.In(name, tile.Float32, tile.Array(rows, cols), tile.Block(bm, bn).At(x, y))
	}
	a := operand("a", p.transA, p.m, p.k, s.M, s.K, i, l)
	b := operand("b", p.transB, p.k, p.n, s.K, s.N, l, j)
	number := func(name string) *tile.Ref {
		return t.In(name, tile.Float32, tile.Array(1, 1), tile.Block(1, 1).At(tile.Const(0), tile.Const(0)))
	}
	var options []tile.DotOption
	if p.transA {
		options = append(options, tile.TransA)
	}
	if p.transB {
		options = append(options, tile.TransB)
	}
	value := func(acc tile.Value) tile.Value { return acc }
	switch p.form {
	case scaled:
		alpha := number("alpha")
		value = func(acc tile.Value) tile.Value { return tile.Mul(acc, alpha) }
	case added:
		alpha, beta := number("alpha"), number("beta")
		c := t.In("c", tile.Float32, tile.Array(p.m, p.n), tile.Block(s.M, s.N).At(i, j))
		value = func(acc tile.Value) tile.Value { return tile.Add(tile.Mul(acc, alpha), tile.Mul(c, beta)) }
	}
	o := t.Out("o", tile.Float32, tile.Array(p.m, p.n), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	t.When(l.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b, options...))
	t.When(l.Last(), func() { t.Store(o, value(acc)) })
	return t.Programs()
}
