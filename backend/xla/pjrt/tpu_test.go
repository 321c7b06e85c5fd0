//go:build linux && cgo

package pjrt

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/backend/xla/aot"
	rungs "matladder/kernels"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// compiler returns libtpu's compiler, for chips with none at hand.
func compiler(t *testing.T) *aot.Compiler {
	t.Helper()
	c, err := aot.Open(aot.Options{Optimized: true})
	if err != nil && slices.Contains(strings.Split(os.Getenv(requireVariable), ","), "tpu") {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// chip is a TPU as Open would find it.
func chip(t *testing.T, name string) machine.Device {
	t.Helper()
	d := describe("tpu", chipName("tpu", name, ""))
	if len(d.Peak) == 0 {
		t.Fatalf("no chip %s", name)
	}
	return d
}

// rung builds a kernel for a problem, in its largest candidate blocks.
func rung(t *testing.T, number int, p problem.Matmul) []*tile.Program {
	t.Helper()
	k := rungs.All[number-1]
	candidates := k.Candidates(p, problem.Machine{Parallel: 2})
	programs, err := k.Build(p, "", candidates[len(candidates)-1])
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// built compiles what would run on a chip, and returns what the compiler made of it.
func built(t *testing.T, c *aot.Compiler, d machine.Device, topology string, l *stablehlo.Launch, params backend.Params) (*hlo.Module, error) {
	t.Helper()
	h, err := Options{}.how(params, d.Kind)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Compile(t.Context(), topology, module(l, h.method, 0, 1), h.options)
	if err != nil {
		return nil, err
	}
	m, err := hlo.Read(got.Format, got.Optimized)
	if err != nil {
		t.Fatal(err)
	}
	return m, nil
}

// calls counts the kernels of a program: in the body of its loop, and elsewhere.
func calls(m *hlo.Module) (inside, outside int) {
	for _, c := range m.Computations {
		n := 0
		for _, i := range c.Instructions {
			if i.Opcode == "custom-call" && i.Target == "tpu_custom_call" {
				n++
			}
		}
		if loops := m.Loops(); len(loops) == 1 && c == m.Body(loops[0]) {
			inside += n
		} else {
			outside += n
		}
	}
	return inside, outside
}

// generations are the chips, as their plugin names them, their topologies, and the
// memory to which the compiler moves what a loop carries.
var generations = []struct{ kind, topology, near string }{
	{"TPU v4", "v4:2x2x1", "cmem"},
	{"TPU v5 lite", "v5e:2x2", "vmem"},
	{"TPU v5", "v5p:2x2x1", "vmem"},
	{"TPU v6 lite", "v6e:2x2", "vmem"},
	{"TPU7x", "tpu7x:2x2x1", "vmem"},
}

// TestTPU_Loop compiles the loop around a kernel, and around XLA's own matmul, for
// each generation. The kernel must stay in it, and its arrays in HBM; told nothing,
// the compiler moves some nearer.
func TestTPU_Loop(t *testing.T) {
	c := compiler(t)
	p := problem.New(512, 512, 512, tile.BFloat16)
	for _, g := range generations {
		d := chip(t, g.kind)
		kernel, err := launchOf(d, rung(t, 5, p), backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		xla, err := stablehlo.Baseline(p)
		if err != nil {
			t.Fatal(err)
		}
		for asked, want := range map[string]string{"": "hbm", OperandsHBM: "hbm", OperandsAny: g.near} {
			params := backend.Params{Extra: map[string]string{operandsParam: asked}}
			for _, l := range []*stablehlo.Launch{kernel, xla} {
				m, err := built(t, c, d, g.topology, l, params)
				if err != nil {
					t.Errorf("%s: %s: %v", g.kind, l.Name, err)
					continue
				}
				if where := operandsOf(m); where != want {
					t.Errorf("%s: %s with operands %q has them in %s, want %s", g.kind, l.Name, asked, where, want)
				}
				if inside, outside := calls(m); l == kernel && (inside != 1 || outside != 0) {
					t.Errorf("%s: %s is %d times in the loop and %d times outside", g.kind, l.Name, inside, outside)
				}
				if l == xla && !multiplies(m) {
					t.Errorf("%s: XLA's product is not in the loop", g.kind)
				}
			}
		}
	}
}

// multiplies reports whether the body of the loop makes what the loop carries by
// more than moving it: XLA's product is a fusion or a convolution.
func multiplies(m *hlo.Module) bool {
	for _, loop := range m.Loops() {
		for _, i := range m.Body(loop).Instructions {
			if (i.Opcode == "fusion" || i.Opcode == "convolution") && len(i.Operands) >= 2 && len(i.Shape.Arrays()) > 0 {
				return true
			}
		}
	}
	return false
}

// TestTPU_Methods compiles every rung, dtype and precision by every method. What is
// not a loop has its operands in HBM, and the kernel once.
func TestTPU_Methods(t *testing.T) {
	c := compiler(t)
	d := chip(t, "TPU v5 lite")
	scaled := problem.New(256, 384, 512, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	highest := problem.New(256, 384, 512, tile.Float32)
	highest.Precision = tile.Highest
	for _, p := range []problem.Matmul{
		problem.New(256, 384, 512, tile.Float32), highest, problem.New(300, 200, 250, tile.BFloat16), problem.New(256, 384, 512, tile.Int8), scaled,
	} {
		for number := 1; number <= len(rungs.All); number++ {
			if number == 2 && p.M%128 != 0 || rungs.All[number-1].Supports(p) != nil {
				continue // panels of a ragged array are no whole tiles
			}
			l, err := launchOf(d, rung(t, number, p), backend.Params{})
			if err != nil {
				t.Errorf("v%d %v: %v", number, p, err)
				continue
			}
			method := methods[number%len(methods)]
			if p.A == tile.Float32 {
				method = Loop
			}
			m, err := built(t, c, d, "v5e:2x2", l, byMethod(method))
			if err != nil {
				t.Errorf("v%d %v by %s: %v", number, p, method, err)
				continue
			}
			want := [2]int{0, 1}
			if method == Loop {
				want = [2]int{1, 0}
			}
			if inside, outside := calls(m); [2]int{inside, outside} != want || operandsOf(m) != "hbm" {
				t.Errorf("v%d %v by %s: %d kernels in a loop, %d outside, operands in %s", number, p, method, inside, outside, operandsOf(m))
			}
			text := module(l, method, 0, 1)
			if strings.Contains(kernelText(t, text), "contract_precision<fp32>") != (p.Precision == tile.Highest) {
				t.Errorf("v%d %v: the precision %v is not the kernel's", number, p, p.Precision)
			}
		}
	}
}

// TestTPU_VMEM raises the limit under which a kernel does not compile.
func TestTPU_VMEM(t *testing.T) {
	c := compiler(t)
	d := chip(t, "TPU v5 lite")
	p := problem.New(2048, 2048, 2048, tile.Float32)
	v5 := rungs.All[4]
	programs, err := v5.Build(p, "", tile.Blocks{M: 512, K: 1024, N: 1024})
	if err != nil {
		t.Fatal(err)
	}
	for limit, fits := range map[int64]bool{0: false, 64 << 20: true} {
		params := backend.Params{VMEMBytes: limit}
		l, err := launchOf(d, programs, params)
		if err == nil {
			_, err = built(t, c, d, "v5e:2x2", l, params)
		}
		var big *backend.TooBigError
		if fits && err != nil || !fits && !errors.As(err, &big) {
			t.Errorf("with a limit of %d: %v", limit, err)
		}
	}
	if l, err := launchOf(d, rung(t, 1, problem.New(8192, 8192, 8192, tile.Float32)), backend.Params{}); err == nil {
		t.Errorf("%s of 768 MiB goes to the compiler, which takes minutes", l.Name)
	}
}

// TestTPU_BaselineLimit: XLA's own matmul, in the loop that times it, takes another
// shape under another limit.
func TestTPU_BaselineLimit(t *testing.T) {
	c := compiler(t)
	l, err := stablehlo.Baseline(problem.New(2048, 2048, 2048, tile.BFloat16))
	if err != nil {
		t.Fatal(err)
	}
	var optimized [][]byte
	for _, limit := range []int64{0, 64 << 20} {
		options, err := libtpu.VMEMLimit(limit)
		if err != nil {
			t.Fatal(err)
		}
		options = maps.Clone(options)
		if options == nil {
			options = hlo.Options{}
		}
		maps.Copy(options, leaveInHBM)
		got, err := c.Compile(t.Context(), "v5e:2x2", l.Loop(), options)
		if err != nil {
			t.Fatal(err)
		}
		optimized = append(optimized, got.Optimized)
	}
	if bytes.Equal(optimized[0], optimized[1]) {
		t.Error("the same program under both limits")
	}
}

// TestUnknownOption is how libtpu 0.0.51 refuses an option that it does not have.
func TestUnknownOption(t *testing.T) {
	c := compiler(t)
	xla, err := stablehlo.Baseline(problem.New(128, 128, 128, tile.Float32))
	if err != nil {
		t.Fatal(err)
	}
	none := hlo.Options{"xla_no_such_option": false}
	_, err = c.Compile(t.Context(), "v5e:2x2", xla.Loop(), none)
	if !unknownOption(err, none) {
		t.Errorf("%v is not about the option", err)
	}
	if unknownOption(fmt.Errorf("out of memory"), none) || unknownOption(nil, none) {
		t.Error("another error is about the option")
	}
}

// kernelText is the Mosaic text inside a program.
func kernelText(t *testing.T, program string) string {
	t.Helper()
	_, rest, _ := strings.Cut(program, `\22body\22:\22`)
	body, _, ok := strings.Cut(rest, `\22`)
	text, err := base64.StdEncoding.DecodeString(body)
	if err != nil || !ok {
		t.Fatalf("no kernel in the program: %v", err)
	}
	return string(text)
}
