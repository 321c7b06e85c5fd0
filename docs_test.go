package matladder_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder"
	"matladder/internal/goldentest"
	"matladder/problem"
	"matladder/tile"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestDocs_Program: the programs of pages are those of folder examples, which CI builds and
// runs; -update writes them there.
func TestDocs_Program(t *testing.T) {
	for name, example := range map[string]string{"docs/library.md": "multiply", "docs/from-pallas.md": "kernel"} {
		text := []byte(page(t, name))
		program, err := os.ReadFile("examples/" + example + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ = bytes.Cut(program, []byte("\npackage ")) // the package's comment
		begin, end := []byte("<!-- "+example+":begin -->\n"), []byte("<!-- "+example+":end -->\n")
		before, rest, ok := bytes.Cut(text, begin)
		_, after, ended := bytes.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no marks around the program", name)
		}
		want := bytes.Join([][]byte{before, begin, []byte("```go\npackage "), program, []byte("```\n"), end, after}, nil)
		goldentest.Assert(t, name, want)
	}
}

// rows are the cells of a page's tables by what the first cell says, links left out.
func rows(text string) map[string][]string {
	list := map[string][]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(cells[0], "["), "]")
		name, _, _ = strings.Cut(name, " ")
		if strings.HasPrefix(line, "|") && list[name] == nil {
			list[name] = cells
		}
	}
	return list
}

// TestReadme_Table: the figures of the README's table, and of lessons, are those of the run
// that docs/notebook/ladder.md has.
func TestReadme_Table(t *testing.T) {
	_, ladder, _ := strings.Cut(page(t, "docs/notebook/ladder.md"), "**bfloat16 ")
	bfloat16, float32s, found := strings.Cut(ladder, "**float32 ")
	if !found {
		t.Fatal("docs/notebook/ladder.md has no tables of bfloat16 and float32")
	}
	readme, want := rows(page(t, "README.md")), rows(bfloat16)
	for _, kernel := range []string{"v1_naive", "v2_parallel", "v3_block", "v4_optblock", "v5_quant", "xla"} {
		w := want[kernel]
		if len(w) < 9 {
			t.Fatalf("docs/notebook/ladder.md has no row of %s", kernel)
		}
		w = []string{w[3], w[5], w[6], w[8]} // median, TFLOP/s, % of peak, over
		if got := readme[kernel]; len(got) != 6 || !slices.Equal(got[2:], w) {
			t.Errorf("the README's row of %s is %q, the run has %q", kernel, got, w)
		}
	}

	_, float32s, _ = strings.Cut("**float32 "+float32s, "**float32 ")
	figures := rows(float32s)
	shown := strings.Join(strings.Fields(page(t, "workshop/lesson0.md")), " ")
	for _, kernel := range []string{"v1_naive", "v2_parallel", "v3_block", "v4_optblock", "v5_quant"} {
		cells := slices.Delete(slices.Clone(figures[kernel]), 7, 8) // no XLA
		if row := strings.Join(strings.Fields(strings.Join(cells, " ")), " "); !strings.Contains(shown, row) {
			t.Errorf("lesson 0 does not show %q, as docs/notebook/ladder.md has it", row)
		}
	}
	over := func(kernel string) string { // as 3.87, 0.87, 1.14
		ratio, _, _ := strings.Cut(figures[kernel][8], "×")
		x, err := strconv.ParseFloat(ratio, 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.2f", x)
	}
	for lesson, says := range map[string]string{
		"2": over("v2_parallel") + " in the recorded table",
		"3": over("v3_block") + " in the recorded one",
		"4": over("v4_optblock") + " in the recorded table",
	} {
		if !strings.Contains(page(t, "workshop/lesson"+lesson+".md"), says) {
			t.Errorf("lesson %s does not say %q, as docs/notebook/ladder.md has it", lesson, says)
		}
	}
}

// TestReadme_Diff: what the README shows of v3 is v3, and what it changes makes a program that
// multiplies.
func TestReadme_Diff(t *testing.T) {
	_, diff, _ := strings.Cut(page(t, "README.md"), "```diff\n")
	diff, _, found := strings.Cut(diff, "```\n")
	if !found {
		t.Fatal("the README has no diff")
	}
	v3 := strings.ReplaceAll(page(t, "kernels/v3_block/kernel.go"), ", tile.AtPrecision(p.Precision)", "")
	own := page(t, "docs_test.go")
	for line := range strings.Lines(diff) {
		in := v3
		if strings.HasPrefix(line, "+") {
			in = own
		}
		if code := strings.TrimSpace(line[1:]); code != "" && !strings.Contains(in, "\t"+code+"\n") {
			t.Errorf("%q is in no kernel", code)
		}
	}

	p, s := problem.New(70, 300, 50, tile.BFloat16), tile.Blocks{M: 32, K: 64, N: 32}
	t.Run("runs", func(test *testing.T) {
		t := tile.New("readme")
		i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
		j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
		k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
		a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
		b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
		o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
		acc := t.Scratch("acc", p.Acc, s.M, s.N)
		t.When(k.First(), func() { t.Fill(acc, 0) })
		t.Accumulate(acc, tile.Dot(a, b))
		t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })
		programs, err := t.Programs()
		if err != nil {
			test.Fatal(err)
		}
		program, err := matladder.CompileTile(test.Context(), programs, matladder.Options{})
		if err != nil {
			test.Fatal(err)
		}
		defer program.Close()
		x, y, z := make([]float32, p.M*p.K), make([]float32, p.K*p.N), make([]matladder.BFloat16, p.M*p.N)
		for e := range x {
			x[e] = 1
		}
		for e := range y {
			y[e] = float32(e % p.N)
		}
		err = program.Run(test.Context(), matladder.Of(z, p.M, p.N), matladder.Of(matladder.From(x, matladder.ToBFloat16), p.M, p.K), matladder.Of(matladder.From(y, matladder.ToBFloat16), p.K, p.N))
		if err != nil {
			test.Fatal(err)
		}
		for e, got := range matladder.Float32s(z) {
			if want := tile.BFloat16.Round(float64(p.K * (e % p.N))); float64(got) != want {
				test.Fatalf("element %d is %v, want %v", e, got, want)
			}
		}
	})
}
