package check_test

import (
	"context"
	"testing"

	"matladder/check"
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
