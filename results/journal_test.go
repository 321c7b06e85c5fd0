package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matladder/internal/thoroughtest"
)

// rounds returns n rounds of one group: two kernels, reps samples each, with
// texts that span lines.
func rounds(n, reps int) [][]Record {
	var list [][]Record
	for round := range n {
		var rows []Record
		for _, kernel := range []string{"v1_naive", Baseline} {
			for rep := range reps {
				r := minimal()
				r.Kernel, r.Round, r.Rep = kernel, round, rep
				r.Reason = "said \"no\",\nthen 1,v1\n\"1\",v1\n"
				rows = append(rows, r)
			}
		}
		list = append(list, rows)
	}
	return list
}

// countSyncs replaces the sync of this test's journals by a count.
func countSyncs(t *testing.T) *int {
	real, n := syncFile, new(int)
	syncFile = func(*os.File) error { *n++; return nil }
	t.Cleanup(func() { syncFile = real })
	return n
}

func journal(t *testing.T, path string, list [][]Record) []byte {
	t.Helper()
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, rows := range list {
		if err := j.Append(rows); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A journal cut at every byte, as a kill can leave it, resumes with exactly
// the rounds that were written whole, takes the missing ones, and ends up as
// the file that was never cut. By default it is cut at some bytes, and beside each end of a round.
func TestResume_CutAtEveryByte(t *testing.T) {
	syncs := countSyncs(t)
	dir := t.TempDir()
	list := rounds(3, 2)
	var ends []int // ends[i] is the size with i rounds
	for i := range len(list) + 1 {
		ends = append(ends, len(journal(t, filepath.Join(dir, "part"+string(rune('0'+i))+".csv"), list[:i])))
	}
	whole := journal(t, filepath.Join(dir, "whole.csv"), list)
	path := filepath.Join(dir, "cut.csv")
	run := thoroughtest.Choose(1, 11, 29)
	for cut := range len(whole) + 1 {
		if beside := slices.ContainsFunc(ends, func(end int) bool { return cut >= end-1 && cut <= end+1 }); !run() && !beside {
			continue
		}
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, rows, repair, err := Resume(t.Context(), path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		kept := 0
		for kept < len(list) && ends[kept+1] <= cut {
			kept++
		}
		var want []Record
		for _, r := range list[:kept] {
			want = append(want, r...)
		}
		if diff := cmp.Diff(want, rows, sameRow...); diff != "" {
			t.Fatalf("cut at %d: rows differ (-synced +resumed):\n%s", cut, diff)
		}
		end := ends[kept]
		if cut < ends[0] {
			end = 0 // within the header: starts fresh
		}
		if repair.Bytes != int64(cut-end) {
			t.Fatalf("cut at %d: %d bytes repaired, want %d", cut, repair.Bytes, cut-end)
		}
		for _, r := range list[kept:] {
			before := *syncs
			if err := j.Append(r); err != nil || *syncs != before+1 {
				t.Fatalf("cut at %d: appended with %d syncs, error %v", cut, *syncs-before, err)
			}
		}
		j.Close()
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Fatalf("cut at %d: the resumed file differs from the one never cut", cut)
		}
	}
}

// After a power cut the tail may be anything, not only a prefix.
func TestResume_GarbageTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	list := rounds(2, 1)
	whole := journal(t, path, list)
	for _, tail := range []string{"\x00\x00\x00", strings.Repeat("\x00", 5000) + "\n", "\n\n", "\"", "1,v1\n", "1,\"v1\n\n\n"} {
		if err := os.WriteFile(path, append(bytes.Clone(whole), tail...), 0o644); err != nil {
			t.Fatal(err)
		}
		j, rows, repair, err := Resume(t.Context(), path)
		if err != nil {
			t.Fatalf("%.20q: %v", tail, err)
		}
		j.Close()
		if got, _ := os.ReadFile(path); len(rows) != 4 || repair.Bytes != int64(len(tail)) || !bytes.Equal(got, whole) {
			t.Errorf("%.20q: %d rows, repair %+v", tail, len(rows), repair)
		}
	}
}

func TestResume_Fresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not", "there", "x.csv")
	j, rows, repair, err := Resume(t.Context(), path)
	if err != nil || rows != nil || repair != (Repair{}) {
		t.Fatalf("rows %v, repair %v, error %v", rows, repair, err)
	}
	defer j.Close()
	if f, err := ReadFile(path); err != nil || len(f.Rows) != 0 || f.Warnings() != nil {
		t.Errorf("a fresh journal reads as %+v, %v", f, err)
	}
}

// What is no journal of this version is refused and left as it was.
func TestResume_Refuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	list := rounds(2, 1)
	whole := string(journal(t, path, list))
	header, body, _ := strings.Cut(whole, "\n")
	first := strings.SplitAfter(body, "1,v1\n")[0]
	for text, want := range map[string]string{
		"precious notes":                                               "the header is not a whole line",
		"precious,notes\n1,2\n":                                        "not a results file: missing columns schema",
		header + ",colour\n":                                           "written by another version, its columns differ: [colour] unknown",
		strings.Replace(header, ",bm", "", 1) + "\n":                   "[bm] missing",
		strings.Replace(header, ",bm,bk", ",bk,bm", 1) + "\n":          "bk stands where bm does here",
		strings.Replace(header, `"schema"`, "schema", 1) + "\n" + body: "another program has rewritten this file",
		header + "\n" + strings.Replace(body, ",128,", ",x,", 1):       `x.csv:2: column "m": "x" is not a whole number`,
		header + "\n" + first:                                          "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		j, _, _, err := Resume(t.Context(), path)
		if want == "" {
			if err != nil {
				t.Errorf("%.60q: %v", text, err)
			} else {
				j.Close()
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q:\n got %v\nwant %s", text, err, want)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%.60q was changed", text)
		}
	}
}

func TestCreate_Refuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	whole := journal(t, path, rounds(1, 1))
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
		t.Error("an existing file was changed")
	}
	for name, open := range map[string]func(string) error{
		"Create": func(p string) error { _, err := Create(p); return err },
		"Resume": func(p string) error { _, _, _, err := Resume(t.Context(), p); return err },
	} {
		for _, p := range []string{filepath.Join(path, "under-a-file.csv"), dir} {
			if err := open(p); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s(%s): %v", name, p, err)
			}
		}
		if runtime.GOOS == "windows" || os.Geteuid() == 0 {
			t.Logf("%s: read-only files and folders do not stop this user: not tested", name)
			continue
		}
		locked := filepath.Join(dir, "locked")
		if err := os.Mkdir(locked, 0o555); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		if err := open(filepath.Join(locked, "x.csv")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s in a read-only folder: %v", name, err)
		}
	}
}

func TestJournal_OneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Resume(t.Context(), path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second run got %v, want ErrLocked", err)
	}
	if f, err := ReadFile(path); err != nil || len(f.Rows) != 0 {
		t.Errorf("reading beside the writer: %v", err)
	}
	j.Close()
	again, _, _, err := Resume(t.Context(), path)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	again.Close()
}

// A refused Append leaves the file as it was and the journal usable.
func TestAppend_Refuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	list := rounds(3, 2)
	whole := journal(t, path, list[:2])
	j, rows, _, err := Resume(t.Context(), path)
	if err != nil || len(rows) != 8 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	defer j.Close()
	nan := rounds(3, 2)[2]
	nan[3].Status = "fine"
	for want, rows := range map[string][]Record{
		"v1_naive 128×64×32 round 1 rep 0 is in the file already": list[1],
		"round 2 rep 1 is in the file already":                    append(rounds(3, 2)[2], list[2][1]),
		`column "status"`:                                         nan,
	} {
		if err := j.Append(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Fatalf("%s: refused, yet the file changed", want)
		}
	}
	if err := j.Append(list[2]); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(path)
	if err != nil || len(f.Rows) != 12 || f.Warnings() != nil {
		t.Errorf("%d rows, %v, %v", len(f.Rows), f.Warnings(), err)
	}
}

// A disk that fails takes the round back; the journal goes on when it heals.
func TestAppend_DiskFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	list := rounds(2, 2)
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(list[0]); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	countSyncs(t)
	full := errors.New("no space left")
	syncFile = func(*os.File) error { return full }
	if err := j.Append(list[1]); !errors.Is(err, full) {
		t.Errorf("got %v, want the disk's error", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("half an append stayed in the file")
	}
	countSyncs(t)
	if err := j.Append(list[1]); err != nil {
		t.Fatal(err)
	}
	if f, err := ReadFile(path); err != nil || len(f.Rows) != 8 || f.Warnings() != nil {
		t.Errorf("%d rows, %v, %v", len(f.Rows), f.Warnings(), err)
	}
}

// TestMain lets the test binary be the run that TestResume_Killed kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("RESULTS_TEST_APPEND_TO"); path != "" {
		j, err := Create(path)
		for round := 0; err == nil; round++ {
			err = j.Append(manyRows(round))
			fmt.Println(round)
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// manyRows is a round whose write takes a while.
func manyRows(round int) []Record {
	var rows []Record
	for rep := range 200 {
		r := minimal()
		r.Round, r.Rep, r.Reason = round, rep, strings.Repeat("x", 500)
		rows = append(rows, r)
	}
	return rows
}

// A run killed at any moment leaves every round it was told is safe, whole
// rounds only, and no lock.
func TestResume_Killed(t *testing.T) {
	for try := range 5 {
		path := filepath.Join(t.TempDir(), "x.csv")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "RESULTS_TEST_APPEND_TO="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for acked := 0; acked < 3+try && lines.Scan(); acked++ {
		}
		time.Sleep(time.Duration(try) * 700 * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		synced := 2 + try
		for lines.Scan() {
			if synced, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatalf("the run said %q", lines.Text())
			}
		}
		cmd.Wait()
		j, rows, _, err := Resume(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		last := rows[len(rows)-1].Round
		if len(rows) != 200*(last+1) || last < synced || last > synced+1 {
			t.Errorf("%d rows up to round %d, where round %d was the last known to be synced", len(rows), last, synced)
		}
		if err := j.Append(manyRows(last + 1)); err != nil {
			t.Error(err)
		}
		j.Close()
	}
}
