package pjrt_test

import (
	"fmt"

	"matladder/backend/pjrt"
)

// How launches behind a plugin can be timed, the default first.
func ExampleMethods() {
	fmt.Println(pjrt.Methods())
	// Output:
	// [loop chain wall]
}
