package inspect

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/cputest"
	"matladder/internal/cli"
)

// assemblyOf compiles a kernel as the command line says and returns its routines.
func assemblyOf(t *testing.T, args ...string) []backend.Routine {
	t.Helper()
	o, err := parse(append(args, "--as", "asm"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	list, err := o.open.Backend.(backend.Assembler).Assembly(t.Context(), o.programs, o.open.Params)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAssembly finds the loop that multiplies in what is written and in what runs: two ways
// that know nothing of each other, and as many instructions in it.
func TestAssembly(t *testing.T) {
	tools := findTools()
	compared := 0
	for _, isa := range []string{"", "avx2", "generic"} {
		t.Setenv("MATLADDER_CPU", isa)
		cputest.Use(t, 0)
		for _, args := range [][]string{
			{"v4", "--sizes", "256"},
			{"v5", "--sizes", "256", "--dtype", "bfloat16"},
			{"v5", "--sizes", "256", "--dtype", "int8"},
			{"v4", "--sizes", "1x1024x1024"},
			{"v4", "--sizes", "8x512x512", "--dtype", "bfloat16"},
			{"attention/3", "--sizes", "128"},
		} {
			if args[0] == "attention/3" {
				args = args[:1]
			}
			for _, r := range assemblyOf(t, args...) {
				if r.Name == "" {
					continue
				}
				text := hotText(r.Text)
				if n := instructions(text); n < 4 || n == instructions(strings.Split(r.Text, "\n")) {
					t.Errorf("%s %v: %s has no loop of its own: %d instructions", isa, args, r.Name, n)
				}
				if len(r.Code) == 0 {
					t.Errorf("%s %v: no code of %s", isa, args, r.Name)
					continue
				}
				if tools == nil {
					continue
				}
				list, err := tools.disassemble(t.Context(), r.Code)
				if err != nil {
					t.Fatal(err)
				}
				if loop := hotLoop(list); len(loop) != instructions(text) {
					t.Errorf("%s %v: the loop of %s has %d instructions as it is written, and %d as it runs", isa, args, r.Name, instructions(text), len(loop))
				}
				compared++
			}
		}
	}
	if tools == nil {
		t.Log("no llvm-mc and llvm-mca: what is written is not compared with what runs")
	}
	t.Logf("%d routines compared", compared)
}

// TestAssembly_Says runs the command with LLVM's tools and without.
func TestAssembly_Says(t *testing.T) {
	without := func() string {
		t.Setenv("PATH", t.TempDir())
		var out, said bytes.Buffer
		if status := Run(t.Context(), []string{"v4", "--sizes", "256", "--as", "asm"}, &out, &said); status != cli.OK {
			t.Fatalf("status %d: %s", status, said.String())
		}
		return out.String()
	}
	_, missing := exec.LookPath("llvm-mca")
	var with bytes.Buffer
	status := Run(t.Context(), []string{"v4", "--sizes", "256", "--as", "asm"}, &with, &with)
	if strings.Contains(with.String(), "loops in Go") {
		t.Skip("no assembly on this machine")
	}
	if text := without(); !strings.Contains(text, "as Go's assembler reads it") || !strings.Contains(text, "install LLVM") {
		t.Errorf("without LLVM's tools:\n%s", text)
	}
	if missing != nil {
		t.Skip("no llvm-mca")
	}
	if strings.Contains(with.String(), "llvm-mca: ") {
		t.Skipf("this llvm-mca is too old: %s", with.String())
	}
	if status != cli.OK || !strings.Contains(with.String(), "cycles of each port") || !strings.Contains(with.String(), "multiplications in it") {
		t.Errorf("status %d:\n%s", status, with.String())
	}
}

// TestHottest takes, of loops, the inmost one that multiplies most.
func TestHottest(t *testing.T) {
	text := "TEXT ·f(SB), NOSPLIT, $0-8\n\tMOVQ n+0(FP), AX\nouter:\n\tVFMADD231PS Z0, Z1, Z2\ninner:\n\tVFMADD231PS Z0, Z1, Z2 // a\n\tBYTE $0x62; BYTE $0xf2 // VDPBF16PS Z0, Z1, Z2\n\tDECQ BX\n\tJNE inner\n\tDECQ AX\n\tJNE outer\nrest:\n\tVFMADD231PS Z0, Z1, Z2\n\tJNE rest\n\tJMP done\ndone:\n\tRET\n"
	lines := hotText(text)
	if lines[0] != "inner:" || len(lines) != 5 || instructions(lines) != 4 {
		t.Errorf("%q", lines)
	}
	if lines := hotText("TEXT ·f(SB)\n\tRET\n"); !slices.Equal(lines, []string{"TEXT ·f(SB)", "\tRET"}) {
		t.Errorf("without a loop: %q", lines)
	}
}
