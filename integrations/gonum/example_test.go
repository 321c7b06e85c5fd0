package gonum_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"matladder"
	"matladder/integrations/gonum"
)

// gonum's products of float32 matrices, by kernels.
func ExampleOpen() {
	i, err := gonum.Open(context.Background(), matladder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer i.Close()
	blas32.Use(i)
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	b := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{5, 6, 7, 8}}
	c := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
	fmt.Println(c.Data)
	// Output:
	// [19 22 43 50]
}
