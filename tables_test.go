package matladder_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// tables are problems with tables, and tables that they have a place for.
var tables = []struct {
	p       problem.Problem
	kernels []string
	blocks  tile.Blocks
	good    map[string][]int32
	bad     map[string][]int32 // values by table and element: in the order low, high, where there are limits
}{
	{
		problem.Attention{Batch: 2, Heads: 1, KVHeads: 1, Rows: 4, Keys: 8, Dim: 8, ValueDim: 8, Dtype: tile.Float32, Lengths: true},
		[]string{"v1", "v2", "v3", "v4", "v5"}, tile.Blocks{M: 4, K: 4, N: 8},
		map[string][]int32{"lengths": {4, 8, 0, 3}},
		map[string][]int32{"lengths 0": {-1, 5}, "lengths 1": {-1, 9}, "lengths 2": {-1, 5}, "lengths 3": {-1, 9}},
	},
	{
		problem.Attention{Batch: 2, Heads: 1, KVHeads: 1, Rows: 4, Keys: 8, Dim: 8, ValueDim: 8, Dtype: tile.Float32, Lengths: true, PageSize: 4, Pages: 3},
		[]string{"v4", "v5"}, tile.Blocks{M: 4, K: 4, N: 8},
		map[string][]int32{"lengths": {4, 8, 4, 4}, "pages": {2, 0, 1, 77}}, // the last is behind the keys that there are
		map[string][]int32{"lengths 1": {-1, 9}, "pages 0": {-1, 3}, "pages 1": {-1, 3}, "pages 2": {-1, 3}},
	},
	{
		problem.Grouped{Rows: 8, K: 8, N: 8, Groups: 3, Dtype: tile.Float32},
		[]string{"v1"}, tile.Blocks{M: 4, K: 8, N: 8},
		map[string][]int32{"offsets": {0, 3, 3, 8}},
		map[string][]int32{"offsets 0": {-1, 1}, "offsets 1": {-1}, "offsets 2": {2, 9}, "offsets 3": {7, 9}},
	},
	{
		problem.Grouped{Rows: 8, K: 8, N: 8, Groups: 3, Dtype: tile.Float32},
		[]string{"v3"}, tile.Blocks{M: 4, K: 8, N: 8},
		map[string][]int32{"offsets": {0, 3, 3, 8}, "tiles_4": {3}, "first_4": {0, 3, 7, -9}, "owner_4": {0, 2, 2, 3}}, // of four there are three
		map[string][]int32{"tiles_4 0": {-1, 5}, "first_4 1": {-1, 8}, "owner_4 2": {-1, 3}},
	},
}

// TestRun_Tables: every element of every table that the arrays have no place for is refused,
// by name, element and value, on every rung, and nothing is computed.
func TestRun_Tables(t *testing.T) {
	for _, test := range tables {
		for _, kernel := range test.kernels {
			program, err := matladder.Compile(t.Context(), test.p, matladder.Options{Kernel: kernel, Threads: 1, Blocks: test.blocks})
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			for _, apart := range []int{1, 3} { // elements between those of a strided table are no part of it
				out := make([]float32, 64)
				call := func(changed string, element int, value int32) error {
					var in []matladder.Tensor
					for _, a := range program.Inputs() {
						if good, ok := test.good[a.Name]; ok {
							data := slices.Repeat([]int32{math.MinInt32}, apart*len(good))
							for i, n := range good {
								data[apart*i] = n
							}
							if a.Name == changed {
								data[apart*element] = value
							}
							in = append(in, matladder.Strided(data, a.Shape, []int{apart}))
							continue
						}
						n := 1
						for _, d := range a.Shape {
							n *= d
						}
						in = append(in, matladder.Of(make([]float32, n), a.Shape...))
					}
					return program.Run(t.Context(), matladder.Of(out, program.Outputs()[0].Shape...), in...)
				}
				if err := call("", 0, 0); err != nil {
					t.Fatalf("%v: %v", program, err)
				}
				for at, values := range test.bad {
					name, digit, _ := strings.Cut(at, " ")
					element := int(digit[0] - '0')
					for _, v := range append([]int32{math.MinInt32, math.MaxInt32}, values...) {
						out[0] = 7
						err := call(name, element, v)
						var wrong *matladder.ArgumentError
						if !errors.As(err, &wrong) || wrong.Name != name || !strings.Contains(err.Error(), "element "+digit) {
							t.Errorf("%v, apart %d: %s = %d: %v", program, apart, at, v, err)
						}
						if out[0] != 7 {
							t.Errorf("%v: %s = %d: something was computed", program, at, v)
						}
					}
				}
			}
		}
	}
}

// BenchmarkCheckTables has 4096 pages, and so many groups.
func BenchmarkCheckTables(b *testing.B) {
	table := make([]int32, 1<<13)
	for name, p := range map[string]problem.Tabled{
		"pages":   problem.Attention{Batch: 1, Heads: 1, KVHeads: 1, Rows: 1, Keys: 4096 * 16, Dim: 8, ValueDim: 8, Dtype: tile.Float32, PageSize: 16},
		"lengths": problem.Attention{Batch: 2048, Heads: 1, KVHeads: 1, Rows: 1, Keys: 16, Dim: 8, ValueDim: 8, Dtype: tile.Float32, Lengths: true},
		"offsets": problem.Grouped{Rows: 0, K: 8, N: 8, Groups: 4095, Dtype: tile.Float32},
	} {
		b.Run(name, func(b *testing.B) {
			of := func(name string) []int32 {
				if name == "offsets" {
					return table[:4096]
				}
				return table
			}
			for b.Loop() {
				if err := p.CheckTables(of); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
