package sharded_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/kernels/experts/route"
	exchange "matladder/kernels/sharded/v6_experts"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// exchanged are tokens of 2, 3 and 4 devices, with one expert on each and with more.
func exchanged() []problem.Exchanged {
	var list []problem.Exchanged
	for _, devices := range []int{2, 3, 4} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			for _, share := range []int{1, 2} {
				each := problem.Experts{Tokens: 11, Dim: 24, Experts: share * devices, Choices: 2, Capacity: 8, Order: problem.TopFirst, Dtype: d}
				list = append(list, problem.Exchanged{Each: each, N: 16, Devices: devices})
			}
		}
	}
	return list
}

// tokensOf are tokens, their choices and their rows of each device, with the matrices of
// all experts.
type tokensOf struct {
	p      problem.Exchanged
	w      tile.Tensor
	x      []tile.Tensor
	tables []route.Tables
	in     [][]tile.Tensor // rows and w of each device
}

func drawn(t testing.TB, p problem.Exchanged) tokensOf {
	r := rand.New(rand.NewPCG(5, 0))
	fill := func(shape ...int) tile.Tensor {
		x := tile.NewTensor(p.Each.Dtype, shape...)
		for i := range x.Len() {
			x.Set(i, r.Float64()*2-1)
		}
		return x
	}
	k, share := p.Each.Dim, p.Share()
	all := tokensOf{p: p, w: fill(p.Each.Experts, k, p.N)}
	for d := range p.Devices {
		ids := tile.NewTensor(tile.Int32, p.Each.Tokens, p.Each.Choices)
		for i := range p.Each.Tokens {
			e := r.IntN(p.Each.Experts)
			ids.Set(2*i, float64(e))
			ids.Set(2*i+1, float64((e+1+r.IntN(p.Each.Experts-1))%p.Each.Experts))
		}
		tables, err := route.Of(p.Each, ids)
		if err != nil {
			t.Fatal(err)
		}
		x, rows, w := fill(p.Each.Tokens, k), tile.NewTensor(p.Each.Dtype, p.Each.Rows(), k), tile.NewTensor(p.Each.Dtype, share, k, p.N)
		for row := range p.Each.Rows() {
			for c := range k {
				if token := int(tables.Tokens.At(row)); token >= 0 {
					rows.Set(row*k+c, x.At(token*k+c))
				}
			}
		}
		for i := range w.Len() {
			w.Set(i, all.w.At(d*w.Len()+i))
		}
		all.x, all.tables, all.in = append(all.x, x), append(all.tables, tables), append(all.in, []tile.Tensor{rows, w})
	}
	return all
}

// compare holds what came back for each choice to x of its token times the matrix of its
// expert, in float64, without devices.
func (a tokensOf) compare(t *testing.T, who string, out [][]tile.Tensor) {
	t.Helper()
	unit := 1e-6
	if a.p.Each.Dtype == tile.BFloat16 {
		unit = 1. / 256
	}
	k, n := a.p.Each.Dim, a.p.N
	for d, tables := range a.tables {
		for row := range a.p.Each.Rows() {
			token, expert := int(tables.Tokens.At(row)), row/a.p.Each.Capacity
			for j := range n {
				sum, size := 0., 0.
				for c := range k {
					if token >= 0 {
						product := a.x[d].At(token*k+c) * a.w.At((expert*k+c)*n+j)
						sum, size = sum+product, size+math.Abs(product)
					}
				}
				if have := out[d][0].At(row*n + j); !(math.Abs(have-sum) <= unit*size) {
					t.Fatalf("%s: device %d, row %d of expert %d, column %d is %g, want %g", who, d, row, expert, j, have, sum)
				}
			}
		}
	}
}

// TestExperts holds the sixth rung to products without devices: in the interpreter with
// copies as early and as late as possible and devices in several orders.
func TestExperts(t *testing.T) {
	for _, p := range exchanged() {
		for _, s := range []tile.Blocks{{M: 8, N: 16}, {M: 4, N: 8}} {
			t.Run(fmt.Sprintf("%s/%d×%d", p, s.M, s.N), func(t *testing.T) {
				programs, err := exchange.Kernel{}.Build(p, s)
				if err != nil {
					t.Fatal(err)
				}
				all := drawn(t, p)
				for _, o := range []interp.Options{{}, {EarlyCopies: true}, {Shuffle: 1}, {Shuffle: 2, EarlyCopies: true}} {
					out, err := interp.RunMesh(context.Background(), programs, all.in, o)
					if err != nil {
						t.Fatalf("%+v: %v", o, err)
					}
					all.compare(t, fmt.Sprintf("interp %+v", o), out)
				}
			})
		}
	}
}

// TestExperts_Refused: shares that are not equal, no capacity and blocks that do not divide
// are refused in words.
func TestExperts_Refused(t *testing.T) {
	for want, change := range map[string]func(*problem.Exchanged, *tile.Blocks){
		"6 experts: 4 devices cannot have equal shares": func(p *problem.Exchanged, _ *tile.Blocks) { p.Each.Experts = 6 },
		"experts without a capacity":                    func(p *problem.Exchanged, _ *tile.Blocks) { p.Each.Capacity = 0 },
		"1 device: the kernel sends to others":          func(p *problem.Exchanged, _ *tile.Blocks) { p.Devices = 1 },
		"take bm that divides 8, the rows of an expert": func(_ *problem.Exchanged, s *tile.Blocks) { s.M = 3 },
		"rows of an expert, and bn that divides 16":     func(_ *problem.Exchanged, s *tile.Blocks) { s.N = 5 },
		"n = 0: a size must be":                         func(p *problem.Exchanged, _ *tile.Blocks) { p.N = 0 },
	} {
		p, s := exchanged()[len(exchanged())-1], tile.Blocks{M: 8, N: 16}
		change(&p, &s)
		if _, err := (exchange.Kernel{}).Build(p, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
