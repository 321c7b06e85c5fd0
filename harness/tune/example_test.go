package tune_test

import (
	"fmt"

	"matladder/harness/tune"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// Block shapes that a tuner would try, the best by counts alone first.
func ExampleSpace_Candidates() {
	k, err := kernels.Find("v4")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := machine.Find("tpu_v5e")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := tune.Space{Device: d, Model: blocking.Model{Machine: problem.Machine{Parallel: 1}}, Workers: 1, Limit: 16 << 20, Most: 6}
	list, err := s.Candidates(tune.Job{Kernel: k, Problem: problem.New(4096, 4096, 4096, tile.BFloat16)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range list[:3] {
		fmt.Printf("%v, of the kernel: %v\n", c.Blocks, c.Own)
	}
	// Output:
	// 1024x1024x1024, of the kernel: true
	// 512x1024x2048, of the kernel: false
	// 512x2048x1024, of the kernel: false
}
