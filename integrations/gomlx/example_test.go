package gomlx_test

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"

	_ "matladder/integrations/gomlx"
)

// A graph of one product, for two threads.
func Example() {
	if err := product(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [19 22 43 50]
}

func product() error {
	b, err := compute.NewWithConfig("matladder:2")
	if err != nil {
		return err
	}
	defer b.Finalize()
	builder, shape := b.Builder("product"), shapes.Make(dtypes.Float32, 2, 2)
	f := builder.Main()
	var values []compute.Value
	var buffers []compute.Buffer
	for name, flat := range [][]float32{{1, 2, 3, 4}, {5, 6, 7, 8}} {
		v, err := f.Parameter(fmt.Sprint(name), shape, nil)
		if err != nil {
			return err
		}
		buffer, err := b.BufferFromFlatData(0, flat, shape)
		if err != nil {
			return err
		}
		values, buffers = append(values, v), append(buffers, buffer)
	}
	o, err := f.DotGeneral(values[0], []int{1}, nil, values[1], []int{0}, nil, compute.DotGeneralConfig{})
	if err != nil {
		return err
	}
	if err := f.Return([]compute.Value{o}, nil); err != nil {
		return err
	}
	e, err := builder.Compile()
	if err != nil {
		return err
	}
	defer e.Finalize()
	out, err := e.Execute(buffers, nil, 0)
	if err != nil {
		return err
	}
	flat := make([]float32, 4)
	if err := out[0].ToFlatData(flat); err != nil {
		return err
	}
	fmt.Println(flat)
	return nil
}
