package aot

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// openGPU returns a compiler for GPUs, or skips the test: the plugin is a large
// download. A test that MATLADDER_REQUIRE names fails instead.
func openGPU(t *testing.T) *GPUCompiler {
	t.Helper()
	c, err := OpenGPU(Options{})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cuda") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGPUConfig: the chip table has all that a GPU's description needs.
func TestGPUConfig(t *testing.T) {
	for _, g := range GPUs() {
		if g.major == 0 { // AMD's
			continue
		}
		config, err := g.config()
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(config, ": 0\n") || strings.Contains(config, "%!") {
			t.Errorf("%s is not known well enough:\n%s", g.Name, config)
		}
		if found, err := FindGPU(g.Name); err != nil || found != g {
			t.Errorf("FindGPU(%s) = %v, %v", g.Name, found, err)
		}
	}
	if _, err := FindGPU("v5e"); err == nil || !strings.Contains(err.Error(), "known: a100") {
		t.Errorf("%v", err)
	}
}

// TestGPUGenerations compiles one product for each generation, with the matrix
// instructions that it alone has.
func TestGPUGenerations(t *testing.T) {
	c := openGPU(t)
	program := testdata(t, "product.mlir")
	for name, opcode := range map[string]string{"a100": "HMMA", "a6000": "HMMA", "l4": "HMMA", "h100": "HGMMA", "b200": "UTCHMMA"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := FindGPU(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Compile(t.Context(), g, program)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Kernels) != 1 {
				t.Fatalf("kernels %+v of\n%s", got.Kernels, got.Sequence)
			}
			k := got.Kernels[0]
			if k.Name != "mm" || k.Grid != [3]int{4, 4, 1} || k.Threads != 128 || k.SpillBytes != 0 {
				t.Errorf("%+v", k)
			}
			// Blocks of a and b are 16 KiB each, and 3 stages of them are asked for.
			if k.SharedBytes < 2*32<<10 || k.SharedBytes > 4*32<<10 || k.Registers < 64 || k.Registers > 255 {
				t.Errorf("%d bytes of shared memory, %d registers", k.SharedBytes, k.Registers)
			}
			if !k.Disassembled || k.Instructions[opcode] == 0 || k.Instructions["total"] < 100 {
				t.Errorf("no %s among %v", opcode, k.Instructions)
			}
			if n := g.blocksPerCore(k); n < 1 || n > 2 {
				t.Errorf("%d blocks a multiprocessor", n)
			}
		})
	}
}

// TestGPUScaled: the sixth rung multiplies numbers by the scales of their groups in matrix units of
// Blackwell, those of float4 too.
func TestGPUScaled(t *testing.T) {
	openGPU(t)
	for _, test := range []struct{ gpu, words, opcodes string }{
		{"b200", "mxfp8", "UTCQMMA"}, {"b200", "mxfp4", "UTCOMMA"}, {"b300", "nvfp4", "tcgen05.mxf4 UTCOMMA"}, {"b200", "mxfp8xmxfp4", "UTCQMMA"},
		{"rtx-pro-6000", "mxfp8", "QMMA"}, {"rtx-pro-6000", "nvfp4", "OMMA"}, {"rtx-pro-6000", "mxfp8xmxfp4", "HMMA"},
	} {
		t.Run(test.gpu+"/"+test.words, func(t *testing.T) {
			t.Parallel()
			b, err := OpenGPUBackend(BackendOptions{Topology: test.gpu, Cache: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			asked, err := problem.MatmulFamily.Parse(test.words)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.MakeMatmul(problem.Sizes{256, 256, 256, 1}, asked)
			programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
			if err != nil {
				t.Fatal(err)
			}
			steps, err := b.Steps(t.Context(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			k := steps[len(steps)-1].Kernel
			found := ""
			for opcode := range k.Instructions {
				if strings.HasSuffix(opcode, "MMA") || strings.Contains(opcode, ".mxf") {
					found = opcode
				}
			}
			if !slices.Contains(strings.Fields(test.opcodes), found) {
				t.Errorf("products by %s, want %s: %v", found, test.opcodes, k.Instructions)
			}
		})
	}
}

// TestGPURefusals: what cannot be compiled is an error that says why, and the next
// program is compiled.
func TestGPURefusals(t *testing.T) {
	c := openGPU(t)
	g, err := FindGPU("h100")
	if err != nil {
		t.Fatal(err)
	}
	program := testdata(t, "product.mlir")
	_, err = c.Compile(t.Context(), g, strings.Replace(program, "num_stages = 3", "num_stages = 12", 1))
	var big *backend.TooBigError
	if !errors.As(err, &big) || big.What != "shared memory" || big.Needed <= big.Limit || big.Limit < 200<<10 {
		t.Errorf("twelve stages: %v", err)
	}
	var wrong *CompileError
	if _, err = c.Compile(t.Context(), g, "module {"); !errors.As(err, &wrong) {
		t.Errorf("half a module: %v", err)
	}
	if _, err = c.Compile(t.Context(), g, program); err != nil {
		t.Errorf("after these: %v", err)
	}
	// Text that ends the plugin's process.
	_, err = c.Compile(t.Context(), g, strings.Replace(program, "{backend_config", "{mhlo.backend_config", 1))
	var crash *backend.CrashError
	if !errors.As(err, &crash) || strings.Contains(err.Error(), "\n") {
		t.Errorf("an attribute that the plugin crashes on: %v", err)
	}
	if _, err = c.Compile(t.Context(), g, program); err != nil {
		t.Errorf("after a crash: %v", err)
	}
}

func TestBlocksPerCore(t *testing.T) {
	g, err := FindGPU("h100")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		registers, threads, shared, want int
	}{
		{168, 128, 98304, 2},      // shared memory of 228 KiB
		{255, 256, 1 << 10, 1},    // 65536 registers hold one block of 8 warps of 255
		{128, 256, 1 << 10, 2},    // or two of 128
		{32, 1024, 0, 2},          // 2048 threads
		{32, 32, 0, 32},           // and at most 32 blocks
		{168, 128, 232448, 1},     // all that a block may have
		{168, 128, 232448 * 2, 0}, // more than that
	} {
		if got := g.blocksPerCore(GPUKernel{Registers: test.registers, Threads: test.threads, SharedBytes: test.shared}); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// TestReadGPU reads what the tools of CUDA 13.0 print.
func TestReadGPU(t *testing.T) {
	kernels := launches("000: kCopy size: 128\n" +
		"001: kCustomKernel [source | sink] mm grid: [8, 4, 1] threads: [128, 1, 1]  shared_memory: 98304 bytes\n" +
		"002: kCublasLtMatmul\n")
	if len(kernels) != 1 || kernels[0].Name != "mm" || kernels[0].Grid != [3]int{8, 4, 1} || kernels[0].Threads != 128 || kernels[0].SharedBytes != 98304 {
		t.Errorf("%+v", kernels)
	}
	used := resourcesOf("ptxas info    : 0 bytes gmem\n" +
		"ptxas info    : Compiling entry function 'mm' for 'sm_90a'\n" +
		"ptxas info    : Function properties for mm\n" +
		"    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n" +
		"ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem\n")
	if want := (resources{168, 1024, 32}); used["mm"] != want {
		t.Errorf("%+v, want %+v", used, want)
	}
	ptx := countPTX(".visible .entry mm(\n\t.param .u64 p\n)\n{\n\t.reg .b32 %r<2>;\n\tld.param.b64 \t%rd1, [p];\n" +
		"\t@%p1 cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, 0x10;\n\twgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%r1};\n}\n")["mm"]
	if ptx["cp.async"] != 1 || ptx["wgmma"] != 1 || ptx["ld"] != 1 || ptx["total"] != 3 {
		t.Errorf("%v", ptx)
	}
	sass := countSASS("\t.section\t.text.mm,\"ax\",@progbits\n.text.mm:\n" +
		"        /*0000*/                   LDC R1, c[0x0][0x28] ;\n" +
		"        /*0010*/              @!P0 LDGSTS.E.BYPASS.128 [R3], [R4.64] ;\n" +
		"        /*0020*/                   HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24 ;\n" +
		".L_x_1:\n        /*0030*/              @P1 BRA `(.L_x_1) ;\n")["mm"]
	if sass["LDGSTS"] != 1 || sass["HGMMA"] != 1 || sass["BRA"] != 1 || sass["total"] != 4 {
		t.Errorf("%v", sass)
	}
}
