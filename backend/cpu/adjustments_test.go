package cpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestAdjustments compiles products with each choice that makes a difference, alone
// and a second one with it, and holds outputs to float64 and plans to what is done.
func TestAdjustments(t *testing.T) {
	type problemCase struct {
		operands string
		m, k, n  int
		blocks   tile.Blocks
	}
	var cases []problemCase
	for _, d := range []string{"float32", "bfloat16", "int8", "bfloat16xint8:per_channel", "bfloat16xint4:per_channel", "bfloat16xfloat8_e5m2:per_channel"} {
		for _, m := range []int{1, 7, 40} {
			cases = append(cases, problemCase{d, m, 200, 150, tile.Blocks{M: m, K: 128, N: 64}})
		}
		cases = append(cases, problemCase{d, 192, 1088, 128, tile.Blocks{M: 96, K: 1088, N: 128}})
	}
	seen, run := map[string]bool{}, thoroughtest.Choose(1, 19, 61)
	for _, isa := range gemm.Supported() {
		be := open(t, Options{Threads: 2, ISA: isa.String()})()
		for _, c := range cases {
			asked, err := problem.MatmulFamily.Parse(c.operands)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.MakeMatmul(problem.Sizes{c.m, c.k, c.n, 1}, asked)
			number := 4
			if p.Quant != "" {
				number = 5
			}
			programs, err := kernels.All[number-1].Build(p, "", c.blocks)
			if err != nil {
				t.Fatal(err)
			}
			first, err := be.Adjustments(t.Context(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			for i, one := range first {
				tries := []backend.Params{one}
				second, err := be.Adjustments(t.Context(), programs, one)
				if err != nil {
					t.Fatal(err)
				}
				if len(second) > 0 {
					tries = append(tries, second[i%len(second)])
				}
				for _, params := range tries {
					for key, value := range params.Extra {
						seen[isa.String()+" "+key+"="+strings.TrimRight(value, "0123456789")] = true
					}
					if !run() {
						continue
					}
					t.Run(fmt.Sprint(isa, " ", c.operands, " ", p.Shape(), " ", params), func(t *testing.T) {
						if c.n%c.blocks.N == 0 && c.k%c.blocks.K == 0 {
							agree(t, be, programs, params)
						}
						checkRun(t, params.String(), be, programs, p, params)
					})
				}
			}
		}
	}
	// What each instruction set can be asked for; of AMX's own only those that tiles,
	// where they are in use, do otherwise.
	want := map[gemm.ISA][]string{
		gemm.Generic: {"k_run=", "a_kib="},
		gemm.AVX2:    {"k_run=", "a_kib=", "b=packed", "b=tiles", "b=streams", "b=pieces", "b=along", "a=packed", "a=rows"},
		gemm.AVX512:  {"k_run=", "a_kib=", "b=packed", "b=tiles", "b=streams", "b=pieces", "b=along", "a=packed", "a=rows"},
		gemm.AMX:     {"k_run=", "a_kib=", "b=packed", "b=tiles", "b=streams", "b=pieces", "b=along", "a=packed", "c=cached", "c=copied", "c=past"},
	}
	for _, isa := range gemm.Supported() {
		for _, choice := range want[isa] {
			if !seen[isa.String()+" "+choice] {
				t.Errorf("%s: nothing was adjusted by %s (there were %v)", isa, choice, slices.Sorted(maps.Keys(seen)))
			}
		}
	}
}

// TestAdjustments_Rows: ways that read b anew for each few rows of a are no choice
// for many of them.
func TestAdjustments_Rows(t *testing.T) {
	if missing := gemm.AVX2.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	be := open(t, Options{Threads: 1, ISA: "avx2"})()
	for m, want := range map[int]string{
		2:    "b=packed b=tiles b=pieces", // by the rule: streams
		16:   "b=packed b=tiles",          // pieces
		192:  "b=pieces",                  // packed
		1024: "",
	} {
		c := planCase{kernel: 4, operands: "float32", m: m, k: 512, n: 512, blocks: tile.Blocks{M: m, K: 512, N: 512}}
		list, err := be.Adjustments(t.Context(), c.programs(t), backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, params := range list {
			if s := params.String(); strings.HasPrefix(s, "b=") {
				got = append(got, s)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%d rows of a: %s, want %s", m, s, want)
		}
	}
}
