//go:build linux && cgo

package pjrt

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// exchanged are tokens of devices, with experts of which each device has a share.
func exchanged(devices, share int, d tile.Dtype) problem.Exchanged {
	each := problem.Experts{Tokens: 11, Dim: 24, Experts: share * devices, Choices: 1, Capacity: 8, Order: problem.TopFirst, Dtype: d}
	return problem.Exchanged{Each: each, N: 20, Devices: devices}
}

// TestExchanged sends rows to their experts and back on the CPU plugin's devices, and holds
// what comes back to products in float64 without devices: row r of a device belongs to
// expert r/capacity, whichever device has it.
func TestExchanged(t *testing.T) {
	be := openCPU(t, Options{}).(*pjrtBackend)
	defer be.Close()
	for _, devices := range []int{1, 2, 3, 4} {
		for _, share := range []int{1, 2} {
			for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
				p := exchanged(devices, share, d)
				t.Run(p.String(), func(t *testing.T) {
					program, err := stablehlo.Exchanged(p)
					if err != nil {
						t.Fatal(err)
					}
					e, err := be.spread(t.Context(), program, backend.Params{})
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					r := rand.New(rand.NewPCG(uint64(devices), uint64(share)))
					var in []tile.Tensor
					for _, a := range program.In {
						x := tile.NewTensor(a.Dtype, a.Shape...)
						for i := range x.Len() {
							x.Set(i, r.Float64()*2-1)
						}
						in = append(in, x)
					}
					y := tile.NewTensor(d, program.Out[0].Shape...)
					if err := e.Load(in...); err != nil {
						t.Fatal(err)
					}
					if s, err := e.Run(t.Context(), 2); err != nil || s.Method != Wall || s.Elapsed <= 0 {
						t.Fatalf("%+v, %v", s, err)
					}
					if err := e.Results(y); err != nil {
						t.Fatal(err)
					}
					if err := products(p, in[0], in[1], y); err != nil {
						t.Error(err)
					}
					if devices > 1 { // as if products had gone back to the wrong devices
						size := len(y.Data) / devices
						y.Data = append(y.Data[size:], y.Data[:size]...)
						if products(p, in[0], in[1], y) == nil {
							t.Error("products of other devices pass")
						}
					}
				})
			}
		}
	}
}

// products holds y, that of all devices, to rows times the matrices of their experts.
func products(p problem.Exchanged, rows, w, y tile.Tensor) error {
	unit := 1e-6
	if p.Each.Dtype == tile.BFloat16 {
		unit = 1. / 256
	}
	k, n := p.Each.Dim, p.N
	for row := range rows.Shape[0] {
		expert := row % p.Each.Rows() / p.Each.Capacity
		for j := range n {
			sum, size := 0., 0.
			for c := range k {
				product := rows.At(row*k+c) * w.At((expert*k+c)*n+j)
				sum, size = sum+product, size+math.Abs(product)
			}
			if have := y.At(row*n + j); !(math.Abs(have-sum) <= unit*size) {
				return fmt.Errorf("device %d, row %d of expert %d, column %d is %g, want %g", row/p.Each.Rows(), row%p.Each.Rows(), expert, j, have, sum)
			}
		}
	}
	return nil
}

// TestExchanged_Refuses wants a reason for what cannot be sent to experts.
func TestExchanged_Refuses(t *testing.T) {
	be := openCPU(t, Options{}).(*pjrtBackend)
	defer be.Close()
	program, err := stablehlo.Exchanged(exchanged(be.client.NumDevices()+1, 1, tile.Float32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := be.spread(t.Context(), program, backend.Params{}); !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "mesh expert=5 has 5 devices, and xla-cpu 4") {
		t.Error(err)
	}
}
