package chips_test

import (
	"fmt"

	"matladder/chips"
)

func ExampleFind() {
	d, err := chips.Find("TPU v5 lite")
	if err != nil {
		fmt.Println(err)
		return
	}
	peak := d.PeakAt("bfloat16", chips.PrecisionDefault)
	fmt.Printf("%s: %.0f TFLOP/s, says %s\n", d.Key, peak.Value/1e12, peak.Source)
	fmt.Println("float8 known:", d.PeakAt("float8_e4m3fn", chips.PrecisionDefault).Known())
	_, err = chips.Find("v99")
	fmt.Println(err != nil)
	// Output:
	// tpu_v5e: 197 TFLOP/s, says Google Cloud documentation, cloud.google.com/tpu/docs/v5e
	// float8 known: false
	// true
}
