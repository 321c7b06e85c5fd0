package tile_test

import (
	"fmt"
	"testing"

	"matladder/tile"
)

// copies returns a program that copies the arrays named from to those named to.
func copies(name string, d tile.Dtype, n int, from, to []string) *tile.Program {
	b := tile.New(name)
	var in []*tile.Ref
	for _, r := range from {
		in = append(in, b.In(r, d, tile.Array(n), tile.Block(n).At(zero)))
	}
	for i, r := range to {
		b.Store(b.Out(r, d, tile.Array(n), tile.Block(n).At(zero)), in[i%len(in)])
	}
	programs, err := b.Programs()
	if err != nil {
		panic(err)
	}
	return programs[0]
}

func TestBind(t *testing.T) {
	one := copies("one", tile.Int8, 4, []string{"a", "b"}, []string{"h", "p"})
	for _, c := range []struct {
		second *tile.Program
		want   string
	}{
		{copies("two", tile.Int8, 4, []string{"h", "a", "c"}, []string{"o"}), "in [a b c] out [p o] temp [h]"},
		{copies("two", tile.Int8, 4, []string{"c"}, []string{"a"}), "tile/program_test.go:18: two: a is an array of an earlier program already"},
		{copies("two", tile.Int8, 4, []string{"c"}, []string{"h"}), "tile/program_test.go:18: two: h is an array of an earlier program already"},
		{copies("two", tile.Int8, 5, []string{"h"}, []string{"o"}), "tile/program_test.go:15: two: h is int8[5] here and int8[4] in an earlier program"},
		{copies("two", tile.Uint8, 4, []string{"a"}, []string{"o"}), "tile/program_test.go:15: two: a is uint8[4] here and int8[4] in an earlier program"},
	} {
		bound, err := tile.Bind([]*tile.Program{one, c.second})
		got := fmt.Sprintf("in %v out %v temp %v", refNames(bound.In), refNames(bound.Out), refNames(bound.Temp))
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func refNames(refs []*tile.Ref) []string {
	var s []string
	for _, r := range refs {
		s = append(s, r.Name)
	}
	return s
}

func TestRef_Shapes(t *testing.T) {
	b := tile.New("shapes")
	r := b.In("r", tile.Int4, tile.Array(3, 10, 5), tile.Block(tile.Squeezed, 4, 5).At(zero, zero, zero))
	got := fmt.Sprint(r.Shape(), r.Blocks(), r.BlockBytes(), r.ArrayBytes(), r.ArrayDim(0), r.ArrayDim(1), r.ArrayDim(2), r.Partial(0), r.Partial(1))
	if want := "[4 5] [3 3 1] 10 75 1 2 -1 true false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBlocks(t *testing.T) {
	for _, s := range []string{"512x1024x256", "512×1024×256"} {
		b, err := tile.ParseBlocks(s)
		if err != nil || b != (tile.Blocks{M: 512, K: 1024, N: 256}) || b.String() != "512x1024x256" {
			t.Errorf("%s: got %v, %v", s, b, err)
		}
	}
	for _, s := range []string{"", "0x1x1", "1x-2x3", "1x2x3x4", "axbxc", "1x2x"} {
		if _, err := tile.ParseBlocks(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
	for s, want := range map[string]tile.Blocks{"512": {M: 512}, "512x64": {M: 512, K: 64}} { // of problems with fewer sides
		if b, err := tile.ParseBlocks(s); err != nil || b != want || b.String() != s {
			t.Errorf("%s: got %v, %v", s, b, err)
		}
	}
	got := tile.Candidates(100, 300, 128, tile.Blocks{M: 128, K: 128, N: 128}, tile.Blocks{M: 256, K: 128, N: 256}, tile.Blocks{M: 256, K: 512, N: 512})
	if want := "[100x128x128 100x300x128]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestDtype_Spellings(t *testing.T) {
	for _, d := range tile.Dtypes() {
		text, err := d.MarshalText()
		var back tile.Dtype
		if err != nil || back.UnmarshalText(text) != nil || back != d {
			t.Errorf("%s: does not survive text: %v, %v", d, back, err)
		}
	}
	for _, s := range []string{"", "bool", "invalid", "f32", "Float32", "int16"} {
		if d, err := tile.ParseDtype(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
	}
}

// TestDotResult states which operands meet, and in what they accumulate.
func TestDotResult(t *testing.T) {
	for _, a := range tile.Dtypes() {
		for _, b := range tile.Dtypes() {
			want := tile.InvalidDtype
			narrowInts := a.IsInteger() && b.IsInteger() && a != tile.Int32 && b != tile.Int32
			float8 := a.IsFloat() && b.IsFloat() && a.Bits() <= 8 && b.Bits() <= 8
			switch {
			case a == tile.Float8E8M0FNU || b == tile.Float8E8M0FNU:
			case narrowInts:
				want = tile.Int32
			case a == b && a.IsFloat(), float8:
				want = tile.Float32
			}
			if got := tile.DotResult(a, b); got != want || tile.DotResult(b, a) != want {
				t.Errorf("%s × %s: got %s, want %s", a, b, got, want)
			}
		}
	}
}
