package inspect

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
)

// needTPU skips a test where libtpu is not installed, and fails it if MATLADDER_REQUIRE names tpu.
func needTPU(t *testing.T) {
	t.Helper()
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: "v5e"})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	b.Close()
}

// TestProgram: programs that jax.export wrote (testdata/export.py). FLOPs are those of their
// products by definition; a sum lies in its band, and is the fastest on the fastest chip.
func TestProgram(t *testing.T) {
	needTPU(t)
	const s, d, q, kv, f = 256, 512, 512, 256, 1024 // of the block: rows, width, heads, kv heads, MLP
	block := 2 * s * (d*(q+2*kv) + 2*s*q + q*d + 3*d*f)
	for file, flops := range map[string]int{
		"block.mlir": block, "block.jax": block, "pallas_matmul.mlir": 2 * 1024 * 1024 * 1024, "scan.mlir": 8 * 2 * 256 * 256 * 256,
	} {
		code, stdout, stderr := inspect("testdata/"+file, "--topology", "v5e,v6e", "--format", "csv")
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if code != cli.OK || err != nil || len(rows) < 5 {
			t.Fatalf("%s: exit %d, %v %s%s", file, code, err, stdout, stderr)
		}
		column := func(row []string, name string) float64 {
			x, err := strconv.ParseFloat(row[slices.Index(rows[0], name)], 64)
			if err != nil {
				t.Errorf("%s: %s of %q", file, name, row)
			}
			return x
		}
		sums := map[string]float64{}
		parts, all, launches := map[string]float64{}, map[string]int{}, 0.
		for _, row := range rows[1:] {
			seconds, low, high := column(row, "seconds"), column(row, "low"), column(row, "high")
			if low > seconds*1.001 || high < seconds*0.999 {
				t.Errorf("%s: %q is outside of its band", file, row)
			}
			if row[1] == "sum" {
				sums[row[0]], launches = seconds, launches+1
			} else {
				parts[row[0]], all[row[0]] = parts[row[0]]+seconds, all[row[0]]+int(column(row, "flops"))
			}
		}
		for chip, sum := range sums {
			if all[chip] != flops || parts[chip] > sum || parts[chip] < sum-3e-6 {
				t.Errorf("%s on %s: %d FLOPs, by definition %d; kernels take %g s, the launch %g", file, chip, all[chip], flops, parts[chip], sum)
			}
		}
		if launches != 2 || sums["v6e"] >= sums["v5e"] {
			t.Errorf("%s: %v", file, sums)
		}
	}
	for args, want := range map[string]string{
		"block.mlir":                           "% of the bfloat16 peak of 197 TFLOP/s\n",
		"block.mlir --topology v6e,v5e":        "fastest: v6e, ",
		"block.mlir --as schedule":             "limit: ",
		"block.mlir --as timeline --chip v5e":  "block.mlir: fusion.3 on TPU v5e (predicted",
		"pallas_matmul.mlir --as counts":       "FLOPs             2147483648\n",
		"while.mlir":                           "does not count from 0 to a number: --assume while.1=TRIPS says how often it runs\n",
		"while.mlir --assume while.1=12":       "331 × 1, 12 times\n",
		"silent.mlir":                          "launch: at least ",
		"silent.mlir --topology v6e":           "unsupported: while: loop while does not count from 0 to a number: --assume while=TRIPS",
		"silent.mlir --assume while=12":        "launch: 2",
		"megablox.mlir":                        "data decides how often its loops run: --assume gmm.1=TRIPS says so\n",
		"pallas_matmul.mlir --as schedule":     "name.1: 64 grid steps",
		"while.mlir --topology v6e --as table": "launch: at least ",
	} {
		if code, stdout, stderr := inspect(strings.Fields("testdata/" + args)...); code != cli.OK || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, no %q in\n%s%s", args, code, want, stdout, stderr)
		}
	}
	// A grouped product of 1024³ in all, whose four groups are one block of rows each: one core
	// has all 16 steps, two have 8 each, and two more trips fill and drain the pipeline.
	for chip, trips := range map[string]string{"v5e": "18", "v5p": "10"} {
		code, stdout, stderr := inspect("testdata/megablox.mlir", "--topology", chip, "--format", "csv", "--assume", "gmm.1="+trips)
		if row := "\n" + chip + ",gmm.1,"; code != cli.OK || !strings.Contains(stdout, row) || !strings.Contains(stdout, fmt.Sprintf(",%d,", 2<<30)) {
			t.Errorf("%s: exit %d\n%s%s", chip, code, stdout, stderr)
		}
	}
	for assume, want := range map[string]string{
		"gmm.2=3": "no kernel and no loop of that name", "gmm.1=3/4": "it has 1 loops that data decides, not 2", "gmm.1": "want NAME=TRIPS",
		"gmm.1=-1": "is no number of trips",
	} {
		if code, _, stderr := inspect("testdata/megablox.mlir", "--topology", "v5e", "--assume", assume); code != cli.Usage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("--assume %s: exit %d, %q, want %q", assume, code, stderr, want)
		}
	}
	one, other := filepath.Join(t.TempDir(), "call.mlir"), filepath.Join(t.TempDir(), "dialect.mlir")
	for file, op := range map[string]string{one: `stablehlo.custom_call @nobody_knows(%a) : (tensor<8x128xf32>) ->`, other: `foo.bar %a :`} {
		put(t, file, "module @m { func.func public @main(%a: tensor<8x128xf32>) -> tensor<8x128xf32> {\n%0 = "+op+" tensor<8x128xf32>\nreturn %0 : tensor<8x128xf32>\n} }\n")
	}
	scalars := filepath.Join(t.TempDir(), "scalars.mlir")
	put(t, scalars, `module @m { func.func public @main(%n: tensor<i32>, %m: tensor<i32>) -> tensor<i32> {
		%c = stablehlo.constant dense<1> : tensor<i32>
		%r:2 = stablehlo.while(%i = %c, %x = %m) : tensor<i32>, tensor<i32>
		cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %p : tensor<i1> }
		do { %z = stablehlo.multiply %i, %x : tensor<i32> %y = stablehlo.add %i, %x : tensor<i32> stablehlo.return %z, %y : tensor<i32>, tensor<i32> }
		return %r#1 : tensor<i32> } }`)
	if code, stdout, stderr := inspect(scalars); code != cli.OK || !strings.Contains(stdout, "does not count from 0 to a number") {
		t.Errorf("a loop without kernels: exit %d\n%s%s", code, stdout, stderr)
	}
	cut := filepath.Join(t.TempDir(), "cut.mlir")
	text, err := os.ReadFile("testdata/block.mlir")
	if err != nil {
		t.Fatal(err)
	}
	put(t, cut, string(text[:len(text)/2]))
	for file, want := range map[string]string{one: "nobody_knows", other: "Dialect `foo' not found", cut: "it is cut short"} {
		if code, _, stderr := inspect(file); code != cli.Failed || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", file, code, stderr, want)
		}
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestProgram_Hostile: what is no program is told in one line, before any compiler sees it.
func TestProgram_Hostile(t *testing.T) {
	dir := t.TempDir()
	jax, err := os.ReadFile("testdata/block.jax")
	if err != nil {
		t.Fatal(err)
	}
	// The table of its fields has where the number of devices stands.
	table := binary.LittleEndian.Uint32(jax)
	fields := table - binary.LittleEndian.Uint32(jax[table:])
	spread := slices.Clone(jax)
	spread[table+uint32(binary.LittleEndian.Uint16(jax[fields+40:]))] = 4
	for name, text := range map[string]string{
		"empty.mlir": " \n", "junk.mlir": "\x00\xff\x80junk func.func", "words.txt": "no program", "cut.jax": string(jax[:2000]),
		"spread.jax":   string(spread),
		"spread.mlir":  "module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} { func.func public @main() { return } }",
		"dynamic.mlir": "func.func public @main(%a: tensor<?x128xbf16>) {}",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	huge := filepath.Join(dir, "huge.mlir")
	put(t, huge, "")
	if err := os.Truncate(huge, 200<<20); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"empty.mlir": "the file is empty", "junk.mlir": "neither tile programs", "words.txt": "neither tile programs", "cut.jax": "it is cut short",
		"spread.mlir": "several devices (mhlo.num_partitions = 4)", "spread.jax": "several devices (nr_devices = 4)",
		"dynamic.mlir": "dynamic shapes (tensor<?x128xbf16>)", "huge.mlir": "is longer than 67108864 bytes", "none.mlir": "none.mlir: ", "": "is a folder",
	} {
		for _, way := range []string{"table", "counts", "schedule"} {
			code, stdout, stderr := inspect(filepath.Join(dir, args), "--as", way)
			if code != cli.Failed || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s as %s: exit %d, %q, want %q", args, way, code, stderr, want)
			}
		}
	}
	for args, want := range map[string]string{
		"testdata/block.mlir --sizes 8":           "--sizes is for a kernel",
		"testdata/block.mlir --as plan":           "is no tile program, and can be shown as table, schedule, timeline, counts",
		"testdata/block.mlir --topology v5e,v9":   `unknown TPU topology "v9"`,
		"testdata/block.mlir --topology v5e,v5e":  "v5e is listed twice",
		"testdata/block.mlir --topology h100":     `unknown TPU topology "h100"`,
		"testdata/block.mlir --as timeline":       "name one by --topology",
		"testdata/block.mlir --format svg":        "--as table has no",
		"v3 --topology v5e,v6e --as schedule":     "unknown TPU topology",
		"testdata/block.mlir --as table --chip x": "--topology",
	} {
		if code, _, stderr := inspect(strings.Fields(args)...); code != cli.Usage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("inspect %s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}
