package pjrt_test

import (
	"fmt"

	"matladder/backend/xla/pjrt"
)

// How launches behind a plugin can be timed, the default first.
func ExampleMethods() {
	fmt.Println(pjrt.Methods())
	// Output:
	// [loop chain wall]
}
