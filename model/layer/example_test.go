package layer_test

import (
	"context"
	"fmt"

	"matladder/model"
	"matladder/model/layer"
)

// The mesh of 16 chips of a TPU v5e that decodes Llama 3 70B soonest, for 43 sequences of
// 8192 tokens each.
func ExampleSearch() {
	ask := layer.Ask{Phase: layer.Decode, Sequences: 43, Length: 8192}
	var err error
	if ask.Chip, ask.Sides, err = model.FindSlice("v5e:4x4"); err != nil {
		fmt.Println(err)
		return
	}
	if ask.Layer, err = layer.Find("llama3-70b"); err != nil {
		fmt.Println(err)
		return
	}
	found, err := layer.Search(context.Background(), ask, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := found.Plans[0]
	fmt.Println(best.Mesh, best.Fits, layer.Bytes(best.Memory.Total()))
	// Output: data=2,model=8 true 15.1 GiB
}
