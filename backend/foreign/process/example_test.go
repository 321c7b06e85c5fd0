package process_test

import (
	"fmt"

	"matladder/backend/foreign/process"
)

// Libraries that kernels can be held against, and how one is had.
func ExampleNames() {
	fmt.Println(process.Names())
	fmt.Println(process.Install("openblas"))
	// Output:
	// [openblas onednn blis mkl libxsmm torch]
	// apt-get install libopenblas0-pthread
}
