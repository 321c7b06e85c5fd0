package check_test

import (
	"context"
	"math"
	"testing"

	"matladder/check"
	"matladder/kernels/attention/attentiontest"
	skip "matladder/kernels/attention/v4_skip"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestAttention: what interp makes of every rung passes, and every fault is found.
func TestAttention(t *testing.T) {
	f := problem.AttentionFamily
	for _, words := range append(f.Dtypes, f.Examples...) {
		asked, err := f.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Make(f.Sample, asked).(problem.Attention)
		k := skip.Kernel
		t.Run(words, func(t *testing.T) {
			ctx := context.Background()
			programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 64, K: 96}))
			if err != nil {
				t.Fatal(err)
			}
			in, err := check.Inputs(ctx, p, programs, 1, check.Uniform)
			if err != nil {
				t.Fatal(err)
			}
			out, err := interp.Run(ctx, programs, in)
			if err != nil {
				t.Fatal(err)
			}
			r, err := check.Verify(ctx, p, programs, in, out[0])
			if err != nil || !r.OK {
				t.Fatalf("%+v, %v", r, err)
			}
			for _, fault := range check.Faults() {
				bad := out[0]
				bad.Data = append([]byte(nil), bad.Data...)
				if err := check.Inject(fault, bad); err != nil {
					t.Fatal(err)
				}
				if r, err := check.Verify(ctx, p, programs, in, bad); err != nil || r.OK {
					t.Errorf("%s is not found: %+v, %v", fault, r, err)
				}
			}
		})
	}
}

// TestAttention_Hidden: NaN is what no row sees, by the definition written out, and nothing else.
func TestAttention_Hidden(t *testing.T) {
	f := problem.AttentionFamily
	for _, words := range append(f.Examples, "float32:causal+segments", "float32:window3,5+end+lengths+segments+bias", "float32:causal+window9,-+end+lengths+pages4x60") {
		for _, sizes := range []problem.Sizes{{7, 30, 2, 2, 4, 3}, {30, 7, 2, 1, 4, 2}} {
			asked, err := f.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Make(sizes, asked).(problem.Attention)
			have, want := map[string]tile.Tensor{}, map[string]tile.Tensor{}
			tables := []problem.Operand{{Name: "lengths", Dtype: tile.Int32, Shape: []int{2 * p.Batch}}, {Name: "pages", Dtype: tile.Int32, Shape: []int{p.Batch * max(1, p.PagesEach())}}}
			if p.PageSize == 0 {
				tables = tables[:1]
			}
			for _, o := range append(tables, p.Operands()...) {
				x := tile.NewTensor(o.Dtype, o.Shape...)
				if err := check.Fill(t.Context(), x, o.Name, p, 3, check.Uniform); err != nil {
					t.Fatal(err)
				}
				have[o.Name] = x
				y := tile.NewTensor(o.Dtype, o.Shape...)
				for i := range y.Len() {
					if v := x.At(i); v == v {
						y.Set(i, v)
					}
				}
				want[o.Name] = y
			}
			attentiontest.Hide(p, want)
			for name, x := range have {
				for i := range x.Len() {
					if math.IsNaN(x.At(i)) != math.IsNaN(want[name].At(i)) {
						t.Fatalf("%s %v: element %d of %s is %v", words, sizes, i, name, x.At(i))
					}
				}
			}
		}
	}
}

// TestAttentionFamily: what is asked is spelled as it is read.
func TestAttentionFamily(t *testing.T) {
	f := problem.AttentionFamily
	for _, words := range append(f.Dtypes, f.Examples...) {
		asked, err := f.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Make(f.Sample, asked)
		if keys := p.(problem.Attention).Keys; keys != f.Sample[1] && keys%4 != 0 || p.Asked() != asked || p.Validate() != nil {
			t.Errorf("%s: %v %+v, %v", words, p.Sizes(), p.Asked(), p.Validate())
		}
	}
	for _, wrong := range []string{"int8", "float32:causl", "float32:window5", "float32:window-3,0", "float32:cap0", "float32:capnan", "float32:pages", "float32:pages0", "float32:pages4x0", "float32:pages4x", "float32:pages4,7",
		"float32:rotary64", "float32:rope+rotary3", "float32:rope+ropeq", "float32:rope+base1", "float32:ropes"} {
		if _, err := f.Parse(wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
