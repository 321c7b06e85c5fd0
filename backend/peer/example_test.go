package peer_test

import (
	"fmt"

	"matladder/backend/peer"
)

// Libraries that kernels can be held against, and how one is had.
func ExampleNames() {
	fmt.Println(peer.Names())
	fmt.Println(peer.Install("openblas"))
	// Output:
	// [openblas onednn blis mkl torch]
	// apt-get install libopenblas0-pthread
}
