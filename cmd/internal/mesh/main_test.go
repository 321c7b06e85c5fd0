package mesh

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
	"matladder/internal/goldentest"
)

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestManual runs the examples of the documentation.
func TestManual(t *testing.T) {
	for _, e := range clitest.Examples(t, "mesh", 2) {
		code, stdout, stderr := call(t, e.Args...)
		if code != cli.OK {
			t.Errorf("exit %d", code)
		}
		e.Check(t, stdout+stderr)
	}
}

// TestPage does the same for the commands of docs/mesh.md.
func TestPage(t *testing.T) {
	const page, prompt, end = "../../../docs/mesh.md", "```text\n$ go run ./cmd/mesh ", "```\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rest, runs := string(text), 0
	var all strings.Builder
	for {
		before, block, ok := strings.Cut(rest, prompt)
		all.WriteString(before)
		if !ok {
			break
		}
		args, shown, _ := strings.Cut(block, "\n")
		if _, rest, ok = strings.Cut(shown, end); !ok {
			t.Fatalf("%s: a block without an end", page)
		}
		code, stdout, stderr := call(t, strings.Fields(args)...)
		if code != cli.OK {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
		all.WriteString(prompt + args + "\n" + stdout + end)
		runs++
	}
	if runs < 4 {
		t.Errorf("%d commands on the page", runs)
	}
	goldentest.Assert(t, page, []byte(all.String()))
}

// TestMistakes: one line each.
func TestMistakes(t *testing.T) {
	layer := []string{"--layer", "llama3-70b"}
	for _, c := range []struct {
		args string
		want string
		code int
	}{
		{"", "--topology is missing", cli.Usage},
		{"--topology v5e", "--layer is missing: of which model (llama3-8b, ", cli.Usage},
		{"--topology v5e --layer gpt", `unknown layer "gpt" (known: llama3-8b, `, cli.Usage},
		{"--topology v9 LAYER", "unknown", cli.Usage},
		{"--topology v2 LAYER", "nothing is known of the links between chips of TPU v2", cli.Usage},
		{"--topology h100_sxm LAYER", "nothing is known of the links", cli.Usage},
		{"--topology v5e:16 LAYER", `slice "16" has 1 dimensions, a pod of TPU v5e has 2: 16x16`, cli.Usage},
		{"--topology v5e:3x4 LAYER", `is not given out as "3x4": sides are powers of two`, cli.Usage},
		{"--topology v5p:8x8x9 LAYER", "multiples of 4 from there on", cli.Usage},
		{"--topology v5e:x LAYER", "want chips along each dimension", cli.Usage},
		{"--topology v5e:99999999999x9999999 LAYER", "want chips along each dimension", cli.Usage},
		{"--topology v5e LAYER --phase rest", `unknown phase "rest" (known: train, prefill, decode)`, cli.Usage},
		{"--topology v5e LAYER --mesh data=256,wide=1", `unknown axis "wide"`, cli.Usage},
		{"--topology v5e LAYER --mesh data=8", "has 8 devices, the slice 16x16 of TPU v5e has 256", cli.Failed},
		{"--topology v5e LAYER --tokens 8191", "--tokens = 8191: not a multiple of --length, 8192", cli.Usage},
		{"--topology v5e LAYER --tokens 8192 --sequences 1", "say the same", cli.Usage},
		{"--topology v5e LAYER --length 0 --tokens 5", "not a multiple", cli.Usage},
		{"--topology v5e LAYER --sequences -1", "want at least one of each", cli.Usage},
		{"--topology v5e LAYER --sequences 1 --phase decode", "no mesh of 256 devices suits Llama 3 70B", cli.Failed},
		{"--topology v5e LAYER --format png", `unknown "png", known are text, csv`, cli.Usage},
		{"--topology v5e LAYER --top 0", "must be at least 1", cli.Usage},
		{"--topology v5e LAYER 5", "one argument too many", cli.Usage},
		{"--topology v5e LAYER --top x", "not a whole number", cli.Usage},
	} {
		args := strings.Fields(c.args)
		if i := slices.Index(args, "LAYER"); i >= 0 {
			args = slices.Replace(args, i, i+1, layer...)
		}
		code, stdout, stderr := call(t, args...)
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, %q, want %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
	code, stdout, stderr := call(t, "--topology", "v5e:1x1", "--layer", "llama3-70b", "--phase", "decode")
	if code != cli.Failed || !strings.Contains(stdout, "None fits: of 16 GiB memory, ") || !strings.Contains(stderr, "no way to spread the layer fits") {
		t.Errorf("one chip: exit %d, %s%s", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := Run(ctx, []string{"--topology", "v5e", "--layer", "llama3-8b"}, new(bytes.Buffer), new(bytes.Buffer)); code != cli.Interrupted {
		t.Errorf("interrupted: exit %d", code)
	}
}

// TestCSV: every mesh is a row, the fastest that fits first, and all are predicted.
func TestCSV(t *testing.T) {
	code, stdout, stderr := call(t, "--topology", "v5p:4x4x4", "--layer", "mixtral-8x22b", "--phase", "train", "--format", "csv", "--top", "1")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != cli.OK || err != nil || len(rows) < 20 {
		t.Fatalf("exit %d, %d rows, %v: %s", code, len(rows), err, stderr)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	last := 0.
	for _, r := range rows[1:] {
		seconds, err := strconv.ParseFloat(r[column("seconds")], 64)
		if r[column("mode")] != "predicted" || err != nil || r[column("fits")] == "true" && seconds < last*(1-1e-5) {
			t.Errorf("row %v", r)
		}
		if r[column("fits")] == "true" {
			last = seconds
		}
	}
}
