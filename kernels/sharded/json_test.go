package sharded_test

import (
	"bytes"
	"testing"

	"matladder/kernels/sharded"
	exchange "matladder/kernels/sharded/v6_experts"
	"matladder/problem"
	"matladder/tile"
)

// TestJSON: programs of meshes are read as they were written.
func TestJSON(t *testing.T) {
	written, err := exchange.Kernel{}.Build(exchanged()[0], tile.Blocks{M: 8, N: 8})
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, "v6_experts", written)
	for _, k := range sharded.All {
		p := problem.Sharded{M: 64, K: 32, N: 64, Devices: 4, Dtype: tile.Float32, Way: problem.Gather}
		switch k.Name {
		case "v1_chip":
			p.Devices = 1
		case "v5_scatter":
			p.Way = problem.Scatter
		}
		programs, err := k.Build(p, "", tile.Blocks{M: 8, K: 8, N: 8})
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, k.Name, programs)
	}
}

func sameJSON(t *testing.T, kernel string, programs []*tile.Program) {
	var text bytes.Buffer
	if err := tile.WritePrograms(&text, programs); err != nil {
		t.Fatal(err)
	}
	again, err := tile.ReadPrograms(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatalf("%s: %v\n%s", kernel, err, text.String())
	}
	if again[0].String() != programs[0].String() {
		t.Errorf("%s is read as\n%s, was written\n%s", kernel, again[0], programs[0])
	}
}
