package configs_test

import (
	"fmt"
	"slices"

	"matladder/configs"
)

// Sweeps that come with matladder, and a table of block shapes that were tuned.
func ExampleRead() {
	fmt.Println(slices.Contains(configs.Names(), "quick"))
	_, file, err := configs.Read("quick")
	fmt.Println(file, err)
	_, file, ok := configs.Tuned("tpu_v5e")
	fmt.Println(file, ok)
	// Output:
	// true
	// configs/quick.yaml <nil>
	// configs/tuned/tpu_v5e.yaml true
}
