package workshop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// blanks says what the check of each blank says, so that whoever begins is told
// what is missing.
var blanks = [][]string{
	{"FLOPs(1, 1, 1) is 0, should be 2"},
	{"result wrong on 24x40x56, float32: o[", "should be 0 within", "should have become 0"},
	{"bytes of b moved again: 196.6 kB, target at most 0 B", "bytes moved: 303.1 kB, target at most 151.6 kB"},
	{"result wrong on 40x72x56, blocks 16x24x16: o[", `OneBlock: your answer is "?"`},
	{"V2(1024, 1024, 1024, 512, 512) is 8388608, should be 16777216", "V3(1024, 1024, 1024) is 0, should be"},
	{"Roundings(4096, 16) is 0, should be 256", "It grows with k."},
	{"result wrong on 32x64x48, blocks 16x32x16: o[", "Which scale did that column take"},
	{"Float32: blocks 0x0x0: each side is", "BFloat16: blocks 0x0x0: each side is"},
	{"ok     result right on 32 rows, 96 keys, blocks 16x96", "result wrong on 32 rows, 96 keys, blocks 16x32: o[", "When a block has a larger score"},
	{"ok     result right on 8 heads, 4 of which share 96 keys", "bytes moved: 99.3 kB, target at most 25.6 kB"},
	{"Gather(33554432, 16) is 0 µs, should be 374.2 µs", "Gather(65536, 1) = 0 µs", "Most(28672) is 0, should be 16", "Most(14336) is 0, should be 4"},
	{"Bits(4, 8, 32) is 0, should be 4.25", "Scale(0.3) is 1, should be 0.0625", "ok     result right on 32x64x48, blocks 16x32x16", "result wrong on 40x128x56, blocks 16x64x16: o["},
	{"Loads(6, 2) is 2, should be 0.6667", "latency is the limit, 12.5 % of the peak", "a panel of B in L1: 32.0 KiB, target at most 16.0 KiB"},
	{"there is no program yet"},
}

// text is the report as it is printed.
func text(t *testing.T, r *Report, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExercises: each solution passes its check, and each blank fails it with
// lines that say what is wrong.
func TestExercises(t *testing.T) {
	if len(All) != len(blanks) {
		t.Fatalf("%d exercises, %d blanks", len(All), len(blanks))
	}
	for n, e := range All {
		r, err := e.CheckSolution(context.Background())
		if said := text(t, r, err); !r.OK() {
			t.Errorf("the solution of exercise %d fails:\n%s", n, said)
		}
		r, err = e.CheckBlank(context.Background())
		said := text(t, r, err)
		if r.OK() {
			t.Errorf("exercise %d is solved as it stands:\n%s", n, said)
		}
		for _, want := range blanks[n] {
			if !strings.Contains(said, want) {
				t.Errorf("exercise %d: the blank's check does not say %q:\n%s", n, want, said)
			}
		}
		if strings.Contains(said, "panic") {
			t.Errorf("exercise %d: %s", n, said)
		}
	}
}

// TestHintFor: the hint is of what is wrong first.
func TestHintFor(t *testing.T) {
	for _, c := range []struct {
		exercise int
		wrong    string
		want     string
	}{
		{0, "Ratio(512, 1.97e+14, 0.1, 0.9, 0.000112) is 0, should be 1.1", "Divide the slow one's"},
		{3, "OneBlock: your answer is \"?\".", "Try it"},
		{4, "V3(1024, 1024, 1024) is 0", "v3 is v4 with blocks"},
		{5, "stores of blocks of o: 96, target at most 6.", "t.When(k.Last()"},
		{6, "anything", "A block of o has"},
	} {
		e := All[c.exercise]
		r := &Report{Lines: []Line{{OK: true, Text: "FLOPs(1, 1, 1) = 2"}, {Text: c.wrong}}}
		if h := e.Hints[e.HintFor(r)]; !strings.Contains(h.Text, c.want) {
			t.Errorf("exercise %d, %s: %+v", c.exercise, c.wrong, h)
		}
	}
	for _, e := range All {
		for _, h := range e.Hints {
			if strings.HasPrefix(h.Text, "[") {
				t.Errorf("exercise %d: %q", e.Number, h.Text)
			}
		}
	}
}

// TestExercises_Files: an exercise has its file, and as it comes the blank is
// marked; its solution has no mark; hints, moral and number are there.
func TestExercises_Files(t *testing.T) {
	const mark = "YOUR TURN"
	for n, e := range All {
		file := filepath.FromSlash(e.File())
		if _, err := os.Stat(filepath.Join("..", file)); err != nil {
			t.Error(err)
		}
		blank, err := os.ReadFile(filepath.Join("blanks", filepath.Base(filepath.Dir(file)), e.Name))
		if err != nil {
			t.Fatal(err)
		}
		solution, err := e.Solution()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(blank), mark) || strings.Contains(solution, mark) {
			t.Errorf("exercise %d: the blank says %q, its solution does not", n, mark)
		}
		if e.Number != n || len(e.Hints) < 2 || e.Moral == "" {
			t.Errorf("exercise %d: number %d, %d hints, moral %q", n, e.Number, len(e.Hints), e.Moral)
		}
	}
}
