// Package problemtest has problems for tests: a list in which every word of a
// quantization, every dtype and every epilogue comes at least once. Kernels,
// backends, lowerings and the check are tested on the same ones.
package problemtest

import (
	"fmt"

	quantized "matladder/kernels/v5_quant"
	mx "matladder/kernels/v6_mx"
	"matladder/problem"
	"matladder/tile"
)

// New returns a problem by the words that rows have.
func New(batch, m, k, n int, a, b, out tile.Dtype, q problem.Quant, e problem.Epilogue) problem.Matmul {
	p := problem.Matmul{Batch: batch, M: m, K: k, N: n, A: a, B: b, Out: out, Quant: q}
	x, y := p.Factors()
	p.Acc = tile.DotResult(x, y)
	return e.Apply(p)
}

// Quantized lists schemes with scales that are given, then those of weights
// alone, then those that quantize a inside the launch. Groups of k that share
// scales have group elements, or twice as many.
func Quantized(batch, m, k, n, group int) []problem.Matmul {
	const (
		f32, bf16, i8, i4 = tile.Float32, tile.BFloat16, tile.Int8, tile.Int4
		e4, e5, e2        = tile.Float8E4M3FN, tile.Float8E5M2, tile.Float4E2M1FN
	)
	block := func(format string, groups int) problem.Quant { return problem.Quant(fmt.Sprintf(format, groups*group)) }
	var all []problem.Matmul
	add := func(a, b, out tile.Dtype, q problem.Quant, e problem.Epilogue) {
		all = append(all, New(batch, m, k, n, a, b, out, q, e))
	}
	add(i8, i8, bf16, "per_tensor", "bias+relu")
	add(i8, i8, f32, "per_channel+token", "")
	add(i8, i8, f32, "per_channel+tensor+zero_a+zero_b", "bias")
	add(i8, i4, bf16, block("per_block%d+token", 1), "silu")
	add(i8, i8, f32, block("per_block%d+tensor+zero_b", 2), "")
	add(i8, i8, bf16, block("per_block%d+token_block", 1), "bias")
	add(i8, i4, f32, block("per_block%d+token_block+zero_b", 2), "")
	add(e4, e4, f32, "per_channel+token", "bias+gelu")
	add(e5, e4, bf16, "per_tensor", "")
	add(bf16, i8, bf16, "per_channel", "")
	add(bf16, i4, bf16, block("per_block%d", 1), "bias")
	add(f32, i4, f32, block("per_block%d+zero_b", 2), "")
	add(bf16, i8, f32, "per_tensor+zero_b", "")
	add(bf16, e5, bf16, "per_channel", "relu")
	add(bf16, i8, bf16, "per_channel+dynamic_token", "")
	add(f32, i8, f32, "per_tensor+dynamic_tensor", "")
	add(f32, i8, f32, "per_channel+dynamic_token+zero_a+zero_b", "")
	add(bf16, i8, bf16, "per_channel+dynamic_tensor+zero_a", "")
	add(bf16, i4, bf16, block("per_block%d+dynamic_token", 1), "gelu")
	add(bf16, i8, bf16, block("per_block%d+dynamic_token_block", 1), "")
	add(f32, i4, f32, block("per_block%d+dynamic_token_block", 2), "silu")
	add(f32, e4, f32, "per_channel+dynamic_token", "")
	add(bf16, e5, f32, "per_tensor+dynamic_tensor", "silu")
	add(e2, e2, f32, block("per_block%d+token_block+e8m0", 1), "bias")
	add(e4, e2, bf16, block("per_block%d+token_block+e8m0", 1), "")
	add(i8, i8, f32, block("per_block%d+token_block+e8m0", 2), "relu")
	add(e2, e2, f32, block("per_block%d+token_block+e4m3", 1), "")
	add(bf16, e2, bf16, block("per_block%d+e8m0", 1), "bias")
	add(f32, e2, f32, block("per_block%d+e4m3", 1), "")
	add(bf16, e4, f32, block("per_block%d+dynamic_token_block+e8m0", 1), "")
	add(f32, e2, f32, block("per_block%d+dynamic_token_block+e8m0_up", 1), "")
	add(bf16, i8, f32, block("per_block%d+dynamic_token_block+e8m0", 1), "silu")
	return all
}

// Kernel is the rung that computes p, which has scales.
func Kernel(p problem.Matmul) problem.Rung[problem.Matmul] {
	if mx.Kernel.Supports(p) == nil {
		return mx.Kernel
	}
	return quantized.Kernel
}

// Label says which of them p is.
func Label(p problem.Matmul) string {
	s := fmt.Sprintf("%s %s", p, p.Quant)
	if e := p.Epilogue(); e != "" {
		s += " " + string(e)
	}
	return s
}
