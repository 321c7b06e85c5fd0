package cpu

import (
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

func TestParseParams(t *testing.T) {
	for extra, want := range map[string]string{
		"b=pieces k_run=512 c=past a=packed a_kib=96 isa=avx2": "",
		"num_warps=4": "no such parameter (known: isa, a, b, c, k_run, a_kib, passes)",
		"b=column":    "how b is read: want packed, tiles, streams, pieces, along, dots",
		"k_run=0":     "want a number from 1 to",
		"a_kib=many":  "want a number from 1 to",
	} {
		m, err := backend.ParseExtra(extra)
		if err != nil {
			t.Fatal(err)
		}
		switch _, err := ParseParams(m); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", extra, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, backend.ErrUnsupported)):
			t.Errorf("%s: error %v, want %q in it", extra, err, want)
		}
	}
}

// TestPlan_Asked: the plan says what was asked for, and where.
func TestPlan_Asked(t *testing.T) {
	if missing := gemm.AVX2.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	be := open(t, Options{Threads: 2, ISA: "avx2"})()
	c := planCase{kernel: 4, operands: "float32", m: 16, k: 512, n: 512, blocks: tile.Blocks{M: 16, K: 512, N: 512}}
	for extra, want := range map[string]string{
		"":                   "skinny    b packed piece by piece into L2: its blocks meet 16 rows of a; up to",
		"b=tiles k_run=64":   "skinny    b read in place by register tiles: asked for; its blocks meet 16 rows of a",
		"b=packed k_run=256": "skinny    b packed: asked for; its blocks meet 16 rows of a",
	} {
		m, err := backend.ParseExtra(extra)
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		if err := be.WritePlan(t.Context(), &plan, c.programs(t), backend.Params{Extra: m}); err != nil {
			t.Fatal(err)
		}
		text := plan.String()
		if !strings.Contains(text, want) || strings.Contains(text, "asked for, in place of rules: "+extra+"\n") != (extra != "") {
			t.Errorf("%q: no %q in\n%s", extra, want, text)
		}
		if _, run, ok := strings.Cut(extra, "k_run="); ok && !strings.Contains(text, "sums in registers over "+run+" of k") {
			t.Errorf("%q: no run of %s in\n%s", extra, run, text)
		}
	}
}
