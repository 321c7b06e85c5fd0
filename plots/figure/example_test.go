package figure_test

import (
	"bytes"
	"fmt"

	"matladder/plots/figure"
)

// A chart is data: two curves, of which one is predicted, under a limit.
func Example() {
	rate := figure.Unit{Name: "GFLOP/s", Value: 1e9}
	ch := &figure.Chart{
		Heading: figure.Heading{Title: "Rates by size", Subtitle: []string{"made up"}},
		X:       figure.Powers("size", []figure.Tick{{Value: 512, Label: "512"}, {Value: 1024, Label: "1024"}}),
		Y:       figure.Axis{Label: rate.Name, Max: 4e9, Unit: rate},
		Series: []figure.Series{
			{Label: "blocked", Color: figure.Blue, Points: []figure.Point{{X: 512, Y: 1e9, Lo: 0.9e9, Hi: 1.1e9}, {X: 1024, Y: 2e9, Lo: 2e9, Hi: 2e9}}},
			{Label: "tuned", Color: figure.Vermillion, Shape: 1, Predicted: true, Points: []figure.Point{{X: 512, Y: 2e9}, {X: 1024, Y: 3e9}}},
		},
		Roofs: []figure.Roof{{Label: "peak " + rate.Format(3.5e9), Peak: 3.5e9}},
	}
	var svg bytes.Buffer
	if err := figure.Write(&svg, ch, figure.SVG); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"Rates by size", "blocked", "tuned", "peak 3.5 GFLOP/s"} {
		fmt.Println(name, bytes.Contains(svg.Bytes(), []byte(">"+name+"<")))
	}
	// Output:
	// Rates by size true
	// blocked true
	// tuned true
	// peak 3.5 GFLOP/s true
}
