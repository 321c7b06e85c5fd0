package vendor_test

import (
	"fmt"

	"matladder/model/vendor"
	"matladder/tile"
)

func Example() {
	table, ok := vendor.Find("nvidia_h100_sxm", tile.BFloat16)
	if !ok {
		fmt.Println("nobody's times are known")
		return
	}
	seconds, err := table.Seconds(4096, 4096, 4096)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.0f TFLOP/s\n", table.Library, 2*4096*4096*4096/seconds/1e12)
	// Output: PyTorch's linear layer (cuBLAS): 828 TFLOP/s
}
