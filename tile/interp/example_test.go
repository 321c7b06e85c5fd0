package interp_test

import (
	"context"
	"fmt"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

func ExampleRun() {
	k, err := kernels.Find("v3_block")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(2, 3, 2, tile.Float32), "", tile.Blocks{M: 2, K: 2, N: 2}) // blocks overhang k
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := tile.NewTensor(tile.Float32, 2, 3), tile.NewTensor(tile.Float32, 3, 2)
	for i := range 6 {
		a.Set(i, float64(i+1))
		b.Set(i, float64(i+1))
	}
	out, err := interp.Run(context.Background(), programs, []tile.Tensor{a, b})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Float32s())
	// Output: [22 28 49 64]
}

// Two devices that swap their arrays: each tells the other that its memory may be written,
// writes into the other's, and waits for what comes into its own.
func ExampleRunMesh() {
	t := tile.New("swap")
	d := t.MeshAxis("x", 2)
	other := tile.Mod(tile.Plus(d, tile.Const(1)), 2)
	a := t.In("a", tile.Float32, tile.Array(1, 2), tile.HBM)
	o := t.Out("o", tile.Float32, tile.Array(1, 2), tile.Block(1, 2).At(tile.Const(0), tile.Const(0)))
	came := t.Scratch("came", tile.Float32, 1, 2)
	zero, all := tile.Const(0), tile.Block(1, 2)
	began, arrived, sent, ready := t.Barrier("began"), t.Semaphores("arrived", 1), t.Semaphores("sent", 1), t.Signals("ready", 1)

	t.Signal(began.At(zero), d, other)
	t.Await(began.At(zero), 1)
	t.Signal(ready.At(zero), d, other) // its memory may be written
	t.Await(ready.At(zero), 1)
	c := tile.NewCopy(a.Part(all.At(zero, zero)), came.Part(all.At(zero, zero)), arrived.At(zero)).ToDevice(d, other, sent.At(zero))
	t.Start(c)
	t.Wait(c)
	t.WaitSent(c)
	t.Store(o, came)
	programs, err := t.Programs()
	if err != nil {
		fmt.Println(err)
		return
	}
	in := make([][]tile.Tensor, 2)
	for device := range in {
		x := tile.NewTensor(tile.Float32, 1, 2)
		x.Set(0, float64(10*device))
		x.Set(1, float64(10*device+1))
		in[device] = []tile.Tensor{x}
	}
	out, err := interp.RunMesh(context.Background(), programs, in, interp.Options{Shuffle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0][0].At(0), out[0][0].At(1), "and", out[1][0].At(0), out[1][0].At(1))
	// Output:
	// 10 11 and 0 1
}
