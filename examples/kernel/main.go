// Kernel writes a kernel in the tile language and runs it: o = 2·a·b + c, where o may lie
// where c does.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"matladder"
	"matladder/tile"
)

func main() {
	const m, k, n = 200, 300, 100
	const bm, bk, bn = 64, 128, 64

	t := tile.New("scale_add")
	i := t.Axis("i", tile.Ceil(m, bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(n, bn), tile.Parallel)
	l := t.Axis("l", tile.Ceil(k, bk), tile.Arbitrary)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(bm, bk).At(i, l))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(bk, bn).At(l, j))
	c := t.In("c", tile.Float32, tile.Array(m, n), tile.Block(bm, bn).At(i, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(bm, bn).At(i, j))
	acc := t.Scratch("acc", tile.Float32, bm, bn)
	t.When(l.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(l.Last(), func() { t.Store(o, tile.Add(tile.Mul(acc, tile.Number(2)), c)) })
	programs, err := t.Programs()
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	p, err := matladder.CompileTile(ctx, programs, matladder.Options{InPlace: map[string]string{"o": "c"}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x, y, sum := slices.Repeat([]float32{1}, m*k), slices.Repeat([]float32{1}, k*n), make([]float32, m*n)
	z := matladder.Of(sum, m, n)
	for range 3 { // adds 600 to each element
		if err := p.Run(ctx, z, matladder.Of(x, m, k), matladder.Of(y, k, n), z); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sum[0], sum[m*n-1])
}
