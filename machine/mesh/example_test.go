package mesh_test

import (
	"fmt"

	"matladder/machine/mesh"
)

// What each of 256 devices has of a product whose rows are spread over one axis and whose
// columns over the other.
func ExampleParse() {
	m, err := mesh.Parse("data=16,model=16")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mesh.FindSharding("gather")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, inner, columns, err := s.Local(m, 8192, 4096, 14336)
	fmt.Println(m.Devices(), "devices:", rows, inner, columns, err)
	_, err = mesh.Parse("data=16,data=2")
	fmt.Println(err)
	// Output:
	// 256 devices: 512 4096 896 <nil>
	// mesh "data=16,data=2": axis data is there twice
}
