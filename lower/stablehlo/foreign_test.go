package stablehlo

import (
	"errors"
	"strings"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// TestReadSignature: what stands in types, attributes and locations separates nothing.
func TestReadSignature(t *testing.T) {
	for text, want := range map[string][2]string{
		`func.func @main() { return }`:                                 {"", ""},
		`func.func public @main(%a: tensor<f32>) -> tensor<4x?xf32> {`: {"tensor<f32>", "tensor<4x?xf32>"},
		`func.func public @main(%a: tensor<8x4xi8> {jax.x = "a, (>"} loc("x,y"), %b : tensor<4xui8>) -> (tensor<8xbf16> {a = {b = 1, c = "\")"}}, tensor<f8E4M3FN>) {`: {"tensor<8x4xi8>|tensor<4xui8>", "tensor<8xbf16>|tensor<f8E4M3FN>"},
		`func.func @main(%a: tensor<4x4xf32, #stablehlo.bounds<?, 4>>) -> tensor<2xf32> attributes {x = 1} {`:                                                          {"tensor<4x4xf32>", "tensor<2xf32>"},
	} {
		s, ok := ReadSignature("module {\n  " + text)
		if got := [2]string{strings.Join(s.In, "|"), strings.Join(s.Out, "|")}; !ok || got != want {
			t.Errorf("%s: %q %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "ML\xefR", "func.func @other(%a: tensor<f32>)", "func.func @main(%a: tensor<f32", "func.func @main(%a)", "func.func @main(%a: !stablehlo.token)"} {
		if s, ok := ReadSignature(text); ok {
			t.Errorf("%q has %v", text, s)
		}
	}
}

// TestSolution: a program's text becomes part of a loop; what cannot runs as it is; one of
// other shapes is refused.
func TestSolution(t *testing.T) {
	p := problem.New(8, 16, 32, tile.Float32)
	const program = `#loc = loc(unknown)
module @theirs attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @f(%0: tensor<8x32xf32>) -> tensor<8x32xf32> { return %0 : tensor<8x32xf32> }
  func.func public @main(%arg0: tensor<8x16xf32>, %arg1: tensor<16x32xf32>) -> (tensor<8x32xf32> {jax.result_info = ""}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %1 = call @f(%0) : (tensor<8x32xf32>) -> tensor<8x32xf32>
    return %1 : tensor<8x32xf32>
  }
} loc(#loc)
`
	l, err := Solution(program, p)
	if err != nil || l.Whole() || len(l.In) != 2 || len(l.Out) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, text := range []string{l.Once(), l.Loop(), l.Chain(), l.LoopTogether(4, 2)} {
		if strings.Count(text, "module @") != 1 || strings.Count(text, "@main(") != 1 || !strings.Contains(text, "func.func private @launch(%arg0") || !strings.HasSuffix(text, "} loc(#loc)\n") {
			t.Errorf("the program became\n%s", text)
		}
	}
	for _, whole := range []string{"ML\xefRbytecode", strings.Replace(program, "@f", "@launch", 2)} {
		if l, err := Solution(whole, p); err != nil || !l.Whole() || l.Once() != whole {
			t.Errorf("%q: %v", whole, err)
		}
	}
	p.N = 33
	if _, err := Solution(program, p); !errors.As(err, new(*UnsupportedError)) || !strings.Contains(err.Error(), "takes (tensor<8x16xf32>, tensor<16x32xf32>): the problem has (tensor<8x16xf32>, tensor<16x33xf32>)") {
		t.Error(err)
	}
}
