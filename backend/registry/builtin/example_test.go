package builtin_test

import (
	"fmt"

	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
)

// The backends that come with matladder are in the registry once the package is imported; a
// program calls Hook first thing, as some of them work in child processes.
func ExampleHook() {
	builtin.Hook()
	e, err := registry.Find(builtin.CPU, registry.Measures)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Name, "is", e.Help)
	// Output:
	// cpu is the cores of this machine; the default
}
