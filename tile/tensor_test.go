package tile_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"matladder/tile"
)

// TestTensor_SetAt stores every value of the narrow dtypes, and some of the wide
// ones, at every place of a small tensor: At returns it, the others stay.
func TestTensor_SetAt(t *testing.T) {
	for _, d := range tile.Dtypes() {
		tensor := tile.NewTensor(d, 3, 5)
		if uintptr(unsafe.Pointer(unsafe.SliceData(tensor.Data)))%64 != 0 {
			t.Errorf("%s: data is not aligned", d)
		}
		if want := (15*d.Bits() + 7) / 8; len(tensor.Data) != want || d.Bytes(15) != int64(want) {
			t.Errorf("%s: %d bytes for 15 elements, want %d", d, len(tensor.Data), want)
		}
		kept := make([]float64, tensor.Len())
		lo, hi := d.Range()
		some := []float64{lo, hi, 0, 1, 2, 3, lo, hi, 1}
		if lo > 0 { // a power of two
			kept[0], some = tensor.At(0), []float64{lo, hi, 1, 2, 4}
			for i := range kept {
				kept[i] = lo
			}
		}
		for n, v := range append(some, codes(d)...) {
			i := n * 7 % tensor.Len()
			tensor.Set(i, v)
			kept[i] = v
			for j, want := range kept {
				if got := tensor.At(j); got != want && (got == got || want == want) {
					t.Fatalf("%s: after %v at %d: element %d is %v, want %v", d, v, i, j, got, want)
				}
			}
		}
	}
}

// codes returns every value of a dtype of up to 8 bits, and of bfloat16.
func codes(d tile.Dtype) []float64 {
	var all []float64
	switch {
	case d == tile.BFloat16:
		for c := range 1 << 16 {
			if c%97 == 0 || c&0x7F80 == 0x7F80 || c&0x7F80 == 0 {
				all = append(all, float64(math.Float32frombits(uint32(c)<<16)))
			}
		}
	case d.Bits() <= 8:
		for c := range 256 {
			all = append(all, tile.Tensor{Dtype: d, Shape: []int{1}, Data: []byte{byte(c)}}.At(0))
		}
	}
	return all
}

func TestTensor_Layout(t *testing.T) {
	int4 := tile.NewTensor(tile.Int4, 3)
	for i, v := range []float64{1, -2, 7} {
		int4.Set(i, v)
	}
	if !bytes.Equal(int4.Data, []byte{0xE1, 0x07}) { // first element in the low nibble
		t.Errorf("int4: got % x", int4.Data)
	}
	float := tile.NewTensor(tile.Float32, 2)
	float.Set(1, 1.5)
	if got := math.Float32frombits(binary.LittleEndian.Uint32(float.Data[4:])); got != 1.5 || float.Float32s()[1] != 1.5 {
		t.Errorf("float32: got %v", got)
	}
	half := tile.NewTensor(tile.BFloat16, 1)
	half.Set(0, math.NaN())
	if got := half.At(0); got == got {
		t.Errorf("bfloat16: NaN became %v", got)
	}
	half.Set(0, -2)
	if got := half.BFloat16s()[0]; got != 0xC000 {
		t.Errorf("bfloat16: -2 is %#x", got)
	}
	float8 := tile.NewTensor(tile.Float8E5M2, 1)
	float8.Set(0, math.Copysign(0, -1))
	if float8.Data[0] != 0x80 {
		t.Errorf("float8: -0 is %#x", float8.Data[0])
	}
}

func TestTensor_Matches(t *testing.T) {
	r := tile.New("m").In("x", tile.Int8, tile.Array(2, 3), tile.Block(2, 3).At(zero, zero))
	if err := tile.NewTensor(tile.Int8, 2, 3).Matches(r); err != nil {
		t.Error(err)
	}
	for want, tensor := range map[string]tile.Tensor{
		"x: have uint8[2, 3], want int8[2, 3]": tile.NewTensor(tile.Uint8, 2, 3),
		"x: have int8[6], want int8[2, 3]":     tile.NewTensor(tile.Int8, 6),
		"x: have 5 bytes, want 6":              {Dtype: tile.Int8, Shape: []int{2, 3}, Data: make([]byte, 5)},
	} {
		if err := tensor.Matches(r); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
