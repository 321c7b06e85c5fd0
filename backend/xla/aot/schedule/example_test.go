package schedule_test

import (
	"archive/zip"
	"fmt"

	"matladder/backend/xla/aot/schedule"
)

// A schedule that libtpu dumped: how long one grid step's instructions are.
func ExampleRead() {
	dump, err := zip.OpenReader("testdata/v5e_v3_float32_128.zip")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dump.Close()
	names, err := schedule.Kernels(dump)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schedule.Read(dump, names[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := s.Body()
	fmt.Printf("%d bundles, %d of them the body, run for %d grid steps\n", s.Bundles, body.Len(), s.Steps())
	// Output:
	// 197 bundles, 101 of them the body, run for 32768 grid steps
}
