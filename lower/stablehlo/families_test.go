package stablehlo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/kernels/attention/attentiontest"
	"matladder/kernels/kernelstest"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// TestFamilies verifies the meaning of kernels of the other families.
func TestFamilies(t *testing.T) {
	kernelstest.OneIn(t, thoroughtest.OneIn(1, 29, 29), func(t *testing.T, c kernelstest.Case) {
		in, err := check.Inputs(t.Context(), c.Problem, c.Programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		l, err := stablehlo.Interpret(c.Programs)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), c.Problem, c.Programs, in, c.Ordered(runText(t, l, in))...); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestBaseline_Families verifies XLA's own way to compute problems of the other families,
// where there is one.
func TestBaseline_Families(t *testing.T) {
	for _, family := range problem.Families()[1:] {
		for _, words := range append(append([]string(nil), family.Dtypes...), family.Examples...) {
			t.Run(family.Name+"/"+words, func(t *testing.T) {
				asked, err := family.Parse(words)
				if err != nil {
					t.Fatal(err)
				}
				p := family.Make(family.Sample, asked)
				l, err := stablehlo.Baseline(p)
				if errors.As(err, new(*stablehlo.UnsupportedError)) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				}
				in, named := fill(t, l, func(x tile.Tensor, name string) error {
					return check.Fill(t.Context(), x, name, p, 5, check.Uniform)
				})
				ref, err := check.ReferenceOf(t.Context(), p, named, 5, check.Uniform)
				if err != nil {
					t.Fatal(err)
				}
				if r, err := ref.Verify(t.Context(), nil, named, runText(t, l, in)); err != nil || !r.OK {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	}
}

// TestBaseline_Attention holds XLA's own way to compute attention to the cases that
// implementations get wrong.
func TestBaseline_Attention(t *testing.T) {
	for _, c := range attentiontest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			p := c.Attention
			if p.Lengths || p.PageSize > 0 {
				if _, err := stablehlo.Baseline(p); !errors.As(err, new(*stablehlo.UnsupportedError)) {
					t.Errorf("with lengths or pages: %v", err)
				}
				return
			}
			p.LogSums = false
			l, err := stablehlo.Baseline(p)
			if err != nil {
				t.Fatal(err)
			}
			in, named := fill(t, l, func(x tile.Tensor, name string) error {
				attentiontest.Fill(p, name, x, 1)
				return nil
			})
			attentiontest.Hide(p, named)
			if err := attentiontest.CheckOutput(p, named, "o", runText(t, l, in)["o"]); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBaseline_Heads: no reshape of attention changes rows, or what is of a row: heads stay
// apart, so that for a compiler all of them are of names alone.
func TestBaseline_Heads(t *testing.T) {
	p := problem.Attention{Batch: 2, Heads: 8, KVHeads: 2, Rows: 32, Keys: 48, Dim: 16, ValueDim: 24, Dtype: tile.BFloat16, Causal: true}
	l, err := stablehlo.Baseline(p)
	if err != nil {
		t.Fatal(err)
	}
	reshapes := 0
	for line := range strings.Lines(l.Once()) {
		if !strings.Contains(line, "stablehlo.reshape") {
			continue
		}
		types := parseTypes(line)
		from, to := types[0].dims, types[1].dims
		if to[len(to)-1] == 1 {
			continue // a number for each row
		}
		reshapes++
		if !slices.Equal(from[len(from)-2:], to[len(to)-2:]) {
			t.Error(line)
		}
	}
	if reshapes == 0 {
		t.Error("no reshapes")
	}
}

// fill makes the inputs of a launch, in their order and by name.
func fill(t *testing.T, l *stablehlo.Launch, with func(x tile.Tensor, name string) error) (in []tile.Tensor, named map[string]tile.Tensor) {
	named = map[string]tile.Tensor{}
	for _, a := range l.In {
		x := tile.NewTensor(a.Dtype, a.Shape...)
		if err := with(x, a.Name); err != nil {
			t.Fatal(err)
		}
		in, named[a.Name] = append(in, x), x
	}
	return in, named
}
