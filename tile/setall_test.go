package tile_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/tile"
)

// TestSetAll: many at once are what one by one is, of every dtype and from any element on.
func TestSetAll(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	values := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1), 0.5, 1.5, -2.5, 127, 128, -128, -129, 255, 256, 1e300, 1e-300, 0x1p-126, 0x1p-127, 0x1p-133, 448, 464, 57344, 61440}
	for range 4096 {
		values = append(values, math.Float64frombits(random.Uint64()), float64(random.IntN(600)-300), math.Ldexp(random.Float64()-0.5, random.IntN(300)-160))
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Float8E4M3FN, tile.Float8E5M2, tile.Int32, tile.Int8, tile.Uint8, tile.Int4} {
		for _, from := range []int{0, 1, 7} {
			one, all := tile.NewTensor(d, len(values)+8), tile.NewTensor(d, len(values)+8)
			for i, v := range values {
				one.Set(from+i, v)
			}
			all.SetAll(from, values)
			if !bytes.Equal(one.Data, all.Data) {
				for i, v := range values {
					if a, b := one.At(from+i), all.At(from+i); math.Float64bits(a) != math.Float64bits(b) {
						t.Fatalf("%s: %v is %v one by one, %v with others", d, v, a, b)
					}
				}
				t.Fatalf("%s from %d: elements beside them differ", d, from)
			}
		}
	}
}
