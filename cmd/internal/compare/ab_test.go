package compare

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/internal/cli"
	"matladder/results"
)

// fake is the variable that makes this program a bench, and says of which kind.
const fake = "COMPARE_FAKE_BENCH"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fake); kind != "" {
		os.Exit(fakeBench(kind, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeBench writes what a bench on a busy machine would: of two kernels, the second of
// which a kind makes slower.
func fakeBench(kind string, args []string) int {
	out := args[slices.Index(args, "--out")+1]
	turn := len(args[0]) + int(out[len(out)-5]) // some number of the turn
	factor := 1.0
	switch {
	case kind == "slow":
		factor = 1.05
	case kind == "crash" && turn%2 == 0, kind == "dead":
		fmt.Fprintln(os.Stderr, "signal: illegal instruction")
		return 3
	case kind == "old" && slices.Contains(args, "--param"):
		fmt.Fprintln(os.Stderr, "bench: unknown flag: --param (bench --help lists the flags)")
		return cli.Usage
	case kind == "hang":
		time.Sleep(time.Hour)
	}
	rng := rand.New(rand.NewPCG(uint64(len(kind)), uint64(out[len(out)-5])+256*uint64(out[len(out)-6])))
	load := 1 + 2*rng.Float64()
	var rows []results.Record
	for round := range 12 {
		for i, kernel := range []string{"v3_block", "v4_optblock"} {
			r := results.Record{
				Schema: results.Schema, RunID: out, Kernel: kernel, Mode: results.Measured, Method: results.Direct, Status: results.OK,
				MatladderVersion: kind, Batch: 1, M: 64, K: 64, N: 64, DtypeA: "float32", BM: 64, BK: 64, BN: 64, Round: round, Launches: 1,
			}
			r.Seconds = 1e-4 * math.Exp(0.01*rng.ExpFloat64())
			if rng.Float64() < 0.6 {
				r.Seconds *= load
			}
			if i == 1 {
				r.Seconds *= factor
			}
			if kind == "wrong" && i == 1 && round == 11 {
				r.Status, r.Reason = results.Wrong, "off"
			}
			rows = append(rows, r)
		}
	}
	var text bytes.Buffer
	if err := results.Write(&text, rows); err != nil {
		return cli.Failed
	}
	if err := os.WriteFile(out, text.Bytes(), 0o666); err != nil {
		return cli.Failed
	}
	if kind == "wrong" {
		return cli.Failed
	}
	return cli.OK
}

// bench is the words of a side that is a fake bench.
func bench(t *testing.T, kind string) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(exe, " =") {
		t.Skip("the path of this test is several words")
	}
	return fake + "=" + kind + " " + exe
}

// TestAB: what two programs in turns come out as.
func TestAB(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		old, new, flags string
		code            int
		stdout          []string // in order
		stderr          string
	}{
		{"fine", "fine", "", cli.OK, []string{"v3_block", "SAME", "v4_optblock", "SAME"}, "OLD and NEW are one program with one setting"},
		{"fine", "slow", "--fail-on-slower 3", cli.Failed, []string{"v3_block", "SAME", "v4_optblock", "0.95", "20+20", "240+240", "SLOWER"},
			"1 of 2 points are lost or more than 3 % slower; the worst, v4_optblock"},
		{"slow", "fine", "--fail-on-slower 3", cli.OK, []string{"v4_optblock", "FASTER"}, ""},
		{"fine", "wrong", "", cli.OK, []string{"v3_block", "SAME", "v4_optblock", "wrong", "LOST"}, ""},
		{"fine", "wrong", "--fail-on-slower 3", cli.Failed, []string{"LOST"}, "is lost, it is wrong"},
		{"fine", "dead", "", cli.Failed, nil, "compare: 3 turns of one side failed, the last: NEW: exit status 3: signal: illegal instruction\n"},
		{"fine", "slow", "--pairs 4", cli.OK, []string{"v3_block", "v4_optblock", "0.95", "16+16", "192+192", "SLOWER"}, ""},
		{"fine", "slow", "--pairs 4 --most-pairs 4", cli.OK, []string{"v4_optblock", "0.95", "4+4", "48+48", "UNSURE"}, "2 of 2 points are UNSURE after 4 pairs"},
		{"fine", "crash", "--pairs 3", cli.Failed, []string{"v3_block", "UNSURE"}, "failed, the last: NEW: exit status 3"},
		{"old", "fine", "-- --param b=packed", cli.Usage, nil, "compare: OLD: unknown flag: --param (bench --help lists the flags); what one side alone knows belongs"},
	} {
		args := append([]string{"--ab"}, strings.Fields(c.flags)...)
		at := len(args)
		if i := slices.Index(args, "--"); i >= 0 {
			at = i
		}
		args = slices.Insert(args, at, bench(t, c.old), bench(t, c.new))
		code, stdout, stderr := compare(args...)
		rest, found := stdout, true
		for _, word := range c.stdout {
			_, rest, found = strings.Cut(rest, word)
			if !found {
				t.Errorf("%s against %s %s: no %q in order\n%s%s", c.new, c.old, c.flags, word, stdout, stderr)
				break
			}
		}
		if code != c.code || !strings.Contains(stderr, c.stderr) || c.stdout == nil && stdout != "" {
			t.Errorf("%s against %s %s: exit %d, want %d with %q\n%s%s", c.new, c.old, c.flags, code, c.code, c.stderr, stdout, stderr)
		}
	}
}

// TestAB_Interrupted: the pairs so far are shown, and no program is left.
func TestAB_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	folder := filepath.Join(t.TempDir(), "turns")
	go func() {
		for range 6000 { // until the first pair is whole
			if list, _ := os.ReadDir(folder); len(list) > 2 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	var stdout, stderr bytes.Buffer
	code := Run(ctx, []string{"--ab", "--keep", folder, "--pairs", "10000", bench(t, "fine"), bench(t, "slow")}, &stdout, &stderr)
	if code != cli.Interrupted || !strings.Contains(stdout.String(), "v4_optblock") || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d\n%s%s", code, &stdout, &stderr)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) < 2 {
		t.Errorf("kept %d files, %v", len(list), err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := time.Now()
	code = Run(ctx, []string{"--ab", bench(t, "hang"), bench(t, "hang")}, &stdout, &stderr)
	if code == cli.OK || time.Since(begin) > time.Minute {
		t.Errorf("exit %d after %s", code, time.Since(begin))
	}
}

// TestParseProgram: a path may have = in it, and a side's own flags count.
func TestParseProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("a=b", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a=b/bench", "bench=2", "two words=3"} {
		if err := os.WriteFile(path, []byte("program"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	sweep := []string{"--sizes", "512"}
	for _, c := range []struct{ words, path, environment, args string }{
		{"a=b/bench", "a=b/bench", "", "--sizes 512"},
		{"a=b/bench --sizes 1024", "a=b/bench", "", "--sizes 512 --sizes 1024"},
		{"./a=b/bench --sizes=1024", "a=b/bench", "", "--sizes 512 --sizes=1024"},
		{"X=1 Y_2=/a/b=c bench=2 --threads 2", "bench=2", "X=1 Y_2=/a/b=c", "--sizes 512 --threads 2"},
		{"two words=3", "two words=3", "", "--sizes 512"},
	} {
		p, err := parseProgram("OLD", c.words, sweep)
		if err != nil {
			t.Errorf("%s: %v", c.words, err)
			continue
		}
		if want, _ := filepath.Abs(c.path); p.path != want || strings.Join(p.environment, " ") != c.environment || strings.Join(p.args, " ") != c.args {
			t.Errorf("%s: %s with %q and %q", c.words, p.path, p.environment, p.args)
		}
	}
	if sweep[0] != "--sizes" || len(sweep) != 2 {
		t.Errorf("the sweep became %q", sweep)
	}
}

// TestAB_Mistakes has one line for each.
func TestAB_Mistakes(t *testing.T) {
	workplace(t)
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ab", "old.csv", "new.csv"}, "OLD: "},
		{[]string{"--ab", "nope", "nope"}, "OLD: stat nope"},
		{[]string{"--ab", "folder", "nope"}, "folder is a folder; build a program there"},
		{[]string{"--ab", "A=b", "nope"}, `OLD: "A=b" names no program`},
		{[]string{"--ab", "nope"}, "--ab wants two programs, the old one first, and flags for both behind --; have 1"},
		{[]string{"--ab", "--pairs", "0", "a", "b"}, "--pairs 0: want at least 1"},
		{[]string{"--ab", "--most-pairs", "19", "a", "b"}, "--most-pairs 19: want at least the 20 of --pairs"},
		{[]string{"--ab", "--most-pairs", "1000001", "a", "b"}, "at most 1000000"},
		{[]string{"--ab", "--turn", "-1s", "a", "b"}, "--turn -1s: want some time"},
		{[]string{"--ab", "--across", "a", "b"}, "--across is for files"},
		{[]string{"--ab", bench(t, "fine"), bench(t, "fine"), "--", "--out", "x.csv"}, "OLD: --out makes no sense in turns"},
		{[]string{"--ab", bench(t, "fine"), bench(t, "fine") + " --time-budget 3s"}, "NEW: --time-budget is that of a turn here"},
		{[]string{"--ab", bench(t, "fine"), bench(t, "fine"), "--", "--backend", "aot"}, "OLD: --backend aot predicts"},
		{[]string{"--ab", bench(t, "fine"), bench(t, "fine") + " --backend=aot"}, "NEW: --backend aot predicts"},
		{[]string{"--ab", bench(t, "fine"), bench(t, "fine"), "--", "--topology=v5e"}, "OLD: --topology predicts"},
		{[]string{"--ab", "--turn", "61m", "a", "b"}, "--turn 1h1m0s: at most 1h0m0s"},
		{[]string{"--ab", "--keep", ".", bench(t, "fine"), bench(t, "fine")}, "--keep: . is not empty"},
		{[]string{"--pairs", "3", "old.csv", "new.csv"}, "--pairs is for --ab"},
		{[]string{"--most-pairs", "3", "old.csv", "new.csv"}, "--most-pairs is for --ab"},
	} {
		code, stdout, stderr := compare(c.args...)
		lines := strings.TrimPrefix(stderr, "compare: OLD and NEW are one program with one setting: what differs is the machine\n")
		if code != cli.Usage || stdout != "" || !strings.Contains(lines, c.want) || strings.Count(lines, "\n") != 1 {
			t.Errorf("%q: exit %d, want %q\n%s%s", c.args, code, c.want, stdout, stderr)
		}
	}
}
