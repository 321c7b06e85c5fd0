//go:build linux

package process

import (
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"
)

// scaled is a product of int8 operands with scales.
func scaled(m, k, n int, out tile.Dtype, quant problem.Quant) problem.Matmul {
	p := problem.New(m, k, n, tile.Int8)
	p.Out, p.Quant = out, quant
	return p
}

// scaledProducts are all that a library may be asked for.
func scaledProducts(m, k, n int) []problem.Matmul {
	var list []problem.Matmul
	for _, quant := range []problem.Quant{"per_tensor", "per_tensor+token", "per_channel", "per_channel+token"} {
		for _, out := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			list = append(list, scaled(m, k, n, out, quant))
		}
	}
	return append(list, scaled(1, k, n, tile.BFloat16, "per_channel+token"), scaled(m, k, 1, tile.Float32, "per_channel+token"))
}

func TestScalesOf(t *testing.T) {
	for quant, want := range map[problem.Quant][2]int{
		"": {}, "per_tensor": {1, 1}, "per_tensor+token": {33, 1}, "per_channel+tensor": {1, 19}, "per_channel+token": {33, 19},
	} {
		p := scaled(33, 70, 19, tile.Float32, quant)
		if a, b, err := scalesOf(p); err != nil || a != want[0] || b != want[1] {
			t.Errorf("%q: %d and %d, %v", quant, a, b, err)
		}
		in, _, err := operandsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		count := int64(0)
		for _, o := range in {
			count += tile.Elements(o.Shape)
		}
		if count != int64(33*70+70*19+want[0]+want[1]) {
			t.Errorf("%q: %d elements", quant, count)
		}
	}
	dynamic, weights := scaled(33, 70, 19, tile.BFloat16, "per_channel+dynamic_token"), scaled(33, 70, 19, tile.BFloat16, "per_channel")
	dynamic.A, weights.A, weights.Acc = tile.BFloat16, tile.BFloat16, tile.Float32
	for _, p := range []problem.Matmul{dynamic, weights, scaled(33, 70, 19, tile.BFloat16, "per_block32"),
		scaled(33, 70, 19, tile.BFloat16, "per_tensor+zero_a"), scaled(33, 70, 19, tile.BFloat16, "per_tensor+zero_b")} {
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := scalesOf(p); !errors.Is(err, errScales) {
			t.Errorf("%s %s: %v", p, p.Quant, err)
		}
	}
}

// TestStandIn_Scaled takes scaled products through a library whose arithmetic is
// known, and is strict about what it is asked for.
func TestStandIn_Scaled(t *testing.T) {
	program, library := standInFor(t, "onednn", "libdnnl.so.3", "testdata/standin_onednn.c")
	b := mustOpen(t, program, library)
	for _, p := range append(scaledProducts(33, 70, 19), problem.New(33, 70, 19, tile.Int8)) {
		if got := strings.Join(b.Variants(p), ","); b.Supports(p) != nil || got != ","+Unsigned {
			t.Errorf("%s %s: variants %q, %v", p, p.Quant, got, b.Supports(p))
		}
		for _, variant := range b.Variants(p) {
			r, err := run(b, p, variant, "")
			if err != nil || !r.OK || r.Quantized != (p.Quant != problem.NoQuant) {
				t.Errorf("%s %s %s: %+v, %v", p, p.Quant, variant, r, err)
			}
			if r, err := run(b, p, variant, "gain"); err != nil || r.OK {
				t.Errorf("%s %s %s with a wrong gain: %+v, %v", p, p.Quant, variant, r, err)
			}
		}
	}
	p := scaled(9, 8, 7, tile.Float32, "per_channel+token")
	for how, want := range map[string]string{"none": "no product", "reference": "reference code"} {
		t.Setenv("STANDIN", how)
		if _, err := run(b, p, "", ""); !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	biased := p
	biased.Bias = true
	program, library = standIn(t)
	for _, test := range []struct {
		b    *Backend
		p    problem.Matmul
		want string
	}{
		{b, biased, "without bias"},
		{b, scaled(9, 8, 7, tile.Float32, "per_block4"), "scales that are given"},
		{mustOpen(t, program, library), p, "openblas 0.0.0 standin has no product int8×int8→float32 per_channel+token"},
	} {
		if err := test.b.Supports(test.p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v", test.p, test.p.Quant, err)
		}
	}
}
