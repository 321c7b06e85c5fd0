package machine_test

import (
	"fmt"

	"matladder/machine"
)

func ExampleFind() {
	d, err := machine.Find("TPU v5 lite")
	if err != nil {
		fmt.Println(err)
		return
	}
	peak := d.PeakAt("bfloat16", machine.PrecisionDefault)
	fmt.Printf("%s: %.0f TFLOP/s, says %s\n", d.Key, peak.Value/1e12, peak.Source)
	fmt.Println("float8 known:", d.PeakAt("float8_e4m3fn", machine.PrecisionDefault).Known())
	_, err = machine.Find("v99")
	fmt.Println(err != nil)
	// Output:
	// tpu_v5e: 197 TFLOP/s, says Google Cloud documentation, cloud.google.com/tpu/docs/v5e
	// float8 known: false
	// true
}
