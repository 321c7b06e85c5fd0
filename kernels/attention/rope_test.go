package attention_test

import (
	"bytes"
	"testing"

	"matladder/kernels"
	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestRope_Apart: every rung that turns q and k means, in all bits, what it means of the q and k
// that a rung of rope has turned.
func TestRope_Apart(t *testing.T) {
	b := tile.Blocks{M: 16, K: 8}
	for _, words := range []string{"float32:causal+rope", "bfloat16:causal+end+rope+interleaved+rotary8+at9", "bfloat16:ropeq+yarn4,64"} {
		asked, err := problem.AttentionFamily.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		p := problem.AttentionFamily.Make(problem.Sizes{21, 33, 4, 2, 16, 2}, asked).(problem.Attention)
		apart := p
		apart.Rope, apart.Rotation = problem.TurnedNone, problem.Rotation{}
		for _, k := range attentiontest.Rungs() {
			t.Run(words+"/"+k.Name(), func(t *testing.T) {
				in := named(t, p, k, b)
				fused := run(t, k, p, b, in)
				in["q"] = turnedBy(t, p.RopeOfRows(p.Rows, p.Keys), in["q"], in["row_cos"], in["row_sin"])
				if p.Rope == problem.TurnedBoth {
					in["k"] = turnedBy(t, p.RopeOfKeys(), in["k"], in["key_cos"], in["key_sin"])
				}
				if !bytes.Equal(fused.Data, run(t, k, apart, b, in).Data) {
					t.Error("o is not that of q and k turned apart")
				}
			})
		}
	}
}

// named makes the inputs of a rung by their names.
func named(t *testing.T, p problem.Attention, k kernels.Kernel, b tile.Blocks) map[string]tile.Tensor {
	t.Helper()
	programs, err := k.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	in, err := attentiontest.Inputs(p, b, programs, 1)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]tile.Tensor{}
	for i, r := range bound.In {
		list[r.Name] = in[i]
	}
	return list
}

// run is the first output of programs that the interpreter runs on inputs by name.
func run(t *testing.T, k kernels.Kernel, p problem.Problem, b tile.Blocks, in map[string]tile.Tensor) tile.Tensor {
	t.Helper()
	programs, err := k.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	var list []tile.Tensor
	for _, r := range bound.In {
		list = append(list, in[r.Name])
	}
	out, err := interp.Run(t.Context(), programs, list)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// turnedBy is x as the last rung of rope turns it.
func turnedBy(t *testing.T, p problem.Rope, x, cos, sin tile.Tensor) tile.Tensor {
	t.Helper()
	ladder := kernels.Ladder(problem.RopeFamily)
	cos.Shape, sin.Shape = []int{p.Rows, cos.Len() / p.Rows}, []int{p.Rows, sin.Len() / p.Rows}
	return run(t, ladder[len(ladder)-1], p, tile.Blocks{M: 8}, map[string]tile.Tensor{"x": x, "cos": cos, "sin": sin})
}
