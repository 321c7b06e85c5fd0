package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/harness"
)

// A sweep in YAML becomes verified rows of a results file.
func ExampleRun() {
	config, err := harness.Parse("small.yaml", []byte("kernels: [3, 5]\nsizes: [48]\ndtypes: [float32, int8]\nrounds: {min: 1, max: 1}\n"))
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
	sweep, err := harness.Plan(context.Background(), config, b.Device(), backend.Params{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	out, err := harness.Run(context.Background(), sweep, harness.Options{
		Backend: b, Provenance: harness.NewProvenance("small", time.Now(), config.Family), Out: filepath.Join(folder, "small.csv"),
	})
	if err != nil {
		fmt.Println(err)
	}
	seen := map[string]bool{} // rounds that were disturbed are measured again
	for _, r := range out.Rows {
		if point := fmt.Sprint(r.Kernel, " ", r.DtypeA); !seen[point] {
			seen[point] = true
			fmt.Println(point, r.Status, r.Seconds > 0)
		}
	}
	// Unordered output:
	// v3_block float32 ok true
	// v3_block int8 ok true
	// v5_quant float32 ok true
	// v5_quant int8 ok true
}
