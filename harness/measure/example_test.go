package measure_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"matladder/stats"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/harness"
	"matladder/results"
	"matladder/tile"
)

// A Go function of one's own is measured in the same rounds as a kernel, on the same
// inputs, verified in the same way, and its rows are in the same file. For one of a shared
// library there is bench --with ./my.so:gemm.
func Example_ownFunction() {
	ctx := context.Background()
	config, err := harness.Parse("mine.yaml", []byte("kernels: [4]\nsizes: [40x56x24]\ndtypes: [float32]\nblocks: 40x56x24\nrounds: {min: 2, max: 2}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	mine, err := library.New(foreign.Function{Name: "mine", Family: config.Family, Asked: config.Asked[0]}, multiply, b.Device())
	if err != nil {
		fmt.Println(err)
		return
	}
	sweep, err := harness.Plan(ctx, config, b.Device(), backend.Params{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	sweep.Compare(mine)
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "mine.csv")
	if _, err := harness.Run(ctx, sweep, harness.Options{
		Backend: b, Provenance: harness.NewProvenance("mine", time.Now(), config.Family), Out: path,
	}); err != nil {
		fmt.Println(err)
		return
	}
	file, err := results.ReadFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range stats.Best(stats.Summarize(file.Rows)) {
		fmt.Println(s.Kernel, s.Size(), s.Status, s.Time.Median > 0)
	}
	// Unordered output:
	// v4_optblock 40×56×24 ok true
	// mine 40×56×24 ok true
}

// multiply is o = a·b, with a of m×k and b of k×n elements.
func multiply(sizes []int, arrays []tile.Tensor) error {
	m, k, n := sizes[0], sizes[1], sizes[2]
	a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
	clear(o)
	for i := range m {
		for l := range k {
			for j := range n {
				o[i*n+j] += a[i*k+l] * b[l*n+j]
			}
		}
	}
	return nil
}
