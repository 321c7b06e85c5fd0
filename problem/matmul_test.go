package problem

import (
	"strings"
	"testing"

	"matladder/tile"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		d        tile.Dtype
		acc, out tile.Dtype
		bytes    int64
	}{
		{tile.Float32, tile.Float32, tile.Float32, 4 * (2*3 + 3*5 + 2*5)},
		{tile.BFloat16, tile.Float32, tile.BFloat16, 2 * (2*3 + 3*5 + 2*5)},
		{tile.Int8, tile.Int32, tile.Int32, 2*3 + 3*5 + 4*2*5},
	} {
		p := New(2, 3, 5, test.d)
		if p.Acc != test.acc || p.Out != test.out || p.Bytes() != test.bytes || p.FLOPs() != 60 {
			t.Errorf("%s: %+v, %d bytes, %d FLOPs", test.d, p, p.Bytes(), p.FLOPs())
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if err := p.Plain(); err != nil {
			t.Error(err)
		}
	}
}

func TestValidate(t *testing.T) {
	good := New(1, 1, 1, tile.Float32)
	for want, change := range map[string]func(*Matmul){
		"m = 0":              func(p *Matmul) { p.M = 0 },
		"k = -1":             func(p *Matmul) { p.K = -1 },
		"batch = 0":          func(p *Matmul) { p.Batch = 0 },
		"overflows":          func(p *Matmul) { p.M, p.K, p.N = 1<<30, 1<<30, 1<<30 },
		"no product":         func(p *Matmul) { p.B = tile.Int8 },
		"accumulates in":     func(p *Matmul) { p.Acc = tile.Int32 },
		"no product of int3": func(p *Matmul) { p.A, p.B = tile.Int32, tile.Int32 },
	} {
		p := good
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("have %v, want %q", err, want)
		}
	}
}
