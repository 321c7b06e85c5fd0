package aot_test

import (
	"fmt"

	"matladder/backend/xla/aot"
)

// Chips that programs are compiled for, without one.
func ExampleFindTopology() {
	top, err := aot.FindTopology("v5e")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := top.Device()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: libtpu calls it %s, the table of chips %s\n", top.Name, top.Libtpu, d.Key)
	for _, t := range aot.Topologies() {
		fmt.Print(t.Name, " ")
	}
	// Output:
	// v5e: libtpu calls it v5e:2x2, the table of chips tpu_v5e
	// v4 v5e v5p v6e v7x
}
