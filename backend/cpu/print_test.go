package cpu

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// planCase is a kernel on a problem, for a machine.
type planCase struct {
	kernel   int
	operands string // as --dtype spells them
	m, k, n  int
	variant  string
	blocks   tile.Blocks // for the rungs that have a choice
	isa      string
	options  Options
}

func (c planCase) String() string {
	s := fmt.Sprintf("v%d_%s_%dx%dx%d", c.kernel, c.operands, c.m, c.k, c.n)
	for _, word := range []string{c.blocks.String(), c.isa, c.variant} {
		if word != "" && c.blocks != (tile.Blocks{}) || word == c.isa {
			s += "_" + word
		}
	}
	return strings.NewReplacer("×", "x", ":", "_", "+", "_").Replace(s)
}

func (c planCase) programs(t *testing.T) []*tile.Program {
	t.Helper()
	o, err := problem.MatmulFamily.Parse(c.operands)
	if err != nil {
		t.Fatal(err)
	}
	p := problem.MakeMatmul(problem.Sizes{c.m, c.k, c.n, 1}, o)
	k, b := kernels.All[c.kernel-1], c.blocks
	if c.kernel < 4 {
		b = k.Candidates(p, problem.Machine{Parallel: c.options.Threads})[0]
	}
	programs, err := k.Build(p, c.variant, b)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// TestPlan_Golden: plans as people read them, on a processor that is given.
// Paths that are chosen by a measurement or by a feature beyond their instruction
// set are left out.
func TestPlan_Golden(t *testing.T) {
	defer func(f func() probe.HostInfo) { probe.Host = f }(probe.Host)
	probe.Host = func() probe.HostInfo {
		return probe.HostInfo{Name: "Test CPU", Cores: 2, Threads: 2, L1D: 32 << 10, L2: 1 << 20, L3: 32 << 20}
	}
	blocks := tile.Blocks{M: 128, K: 256, N: 256}
	two := Options{Threads: 2}
	for _, c := range []planCase{
		{1, "float32", 512, 512, 512, "", tile.Blocks{}, "generic", two},
		{2, "int8", 512, 512, 512, "", tile.Blocks{}, "generic", two},
		{3, "bfloat16", 300, 400, 500, "", tile.Blocks{}, "generic", Options{Threads: 4}},
		{4, "float32", 512, 512, 512, "", blocks, "generic", two},
		{4, "bfloat16", 512, 512, 512, "", blocks, "avx2", two},
		{4, "float32", 16, 512, 512, "", tile.Blocks{M: 16, K: 512, N: 256}, "avx512", two},
		{4, "float32", 2, 512, 512, "", tile.Blocks{M: 2, K: 512, N: 256}, "avx2", two},
		{4, "float32", 8, 512, 512, "", tile.Blocks{M: 8, K: 512, N: 256}, "avx2", two},
		{4, "float32", 16, 512, 512, "", tile.Blocks{M: 16, K: 512, N: 256}, "avx2", two},
		{5, "bfloat16xint4:per_channel", 8, 512, 512, "", tile.Blocks{M: 8, K: 512, N: 256}, "avx2", two},
		{5, "bfloat16xint4:per_channel", 16, 512, 512, "", tile.Blocks{M: 16, K: 512, N: 256}, "avx2", two},
		{4, "float32", 512, 1024, 512, "", blocks, "avx2", Options{Threads: 2, CacheBytes: 1200 << 10}},
		{4, "float32", 512, 512, 512, "", blocks, "avx2", two},
		{5, "bfloat16xint8:per_channel+dynamic_token:bias+gelu", 512, 512, 512, "", blocks, "generic", two},
		{5, "bfloat16xint8:per_channel+dynamic_token:bias+gelu", 512, 512, 512, "fused", blocks, "generic", two},
		{6, "bfloat16xint4:per_block128", 512, 512, 512, "", blocks, "generic", two},
		{4, "int8", 1024, 2240, 1024, "", tile.Blocks{M: 512, K: 2240, N: 512}, "amx", two},
		{4, "int8", 1024, 4096, 1024, "", tile.Blocks{M: 256, K: 1024, N: 256}, "amx", two},
	} {
		name := c.String()
		if c.options.CacheBytes > 0 {
			name += "_cache"
		}
		t.Run(name, func(t *testing.T) {
			if isa, _ := gemm.ParseISA(c.isa); len(isa.Missing()) > 0 {
				t.Skipf("this machine lacks %v", isa.Missing())
			}
			c.options.ISA = c.isa
			e, err := open(t, c.options)().compile(context.Background(), c.programs(t), backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			if c.isa == "amx" && !strings.Contains(e.Plans[0].Steps[0].Dots[0].Product.Name, "tiles") {
				t.Skip("tiles are not faster here")
			}
			machine := []string{fmt.Sprintf("Test CPU: %s, %d threads; L1 32.0 KiB; L2 1.0 MiB; L3 32.0 MiB", c.isa, c.options.Threads), c.isa + " is asked for; better lacks this, that"}
			goldentest.Assert(t, "testdata/"+name+".plan", []byte(e.Print(machine, true)))
		})
	}
}

// TestPlan_Params: what parameters ask for is in the plan, and refused as by Compile.
func TestPlan_Params(t *testing.T) {
	t.Setenv(ISAVariable, "") // generic is to be what parameters ask for
	c := planCase{4, "float32", 64, 64, 64, "", tile.Blocks{M: 16, K: 32, N: 32}, "", Options{}}
	be := open(t, Options{Threads: 2})()
	var text strings.Builder
	if err := be.WritePlan(context.Background(), &text, c.programs(t), backend.Params{Threads: 3, ISA: "generic"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"generic, 3 threads", "generic is asked for; avx2 ", "amx ", "\n          3 workers, each with "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if err := be.WritePlan(context.Background(), &text, c.programs(t), backend.Params{ISA: "sse9"}); err == nil || !strings.Contains(err.Error(), "sse9") {
		t.Errorf("error %v", err)
	}
}
