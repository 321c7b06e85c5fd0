package results

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func round(n int) []Record {
	return []Record{{Schema: Schema, Kernel: "v1", Mode: Measured, Status: OK, Batch: 1, M: 8, K: 8, N: 8, DtypeA: "int8", Round: n, Launches: 1, Seconds: 1}}
}

// TestJournal_Lost: whatever is done to the file while it is written, the next append
// tells, and touches nothing.
func TestJournal_Lost(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"removed":   {os.Remove, "was removed"},
		"renamed":   {func(p string) error { return os.Rename(p, p+".old") }, "was removed or renamed"},
		"folder":    {func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, "was removed"},
		"replaced":  {func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, []byte("mine"), 0o666)) }, "was replaced"},
		"truncated": {func(p string) error { return os.Truncate(p, 0) }, "was cut from "},
		"cut":       {func(p string) error { return os.Truncate(p, 300) }, "was cut from "},
		"appended": {func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more\n")
			return errors.Join(err, f.Close())
		}, "was written by another program, 5 bytes behind its last round"},
	} {
		if runtime.GOOS == "windows" && name != "truncated" && name != "cut" && name != "appended" {
			continue // an open file stays there
		}
		path := filepath.Join(t.TempDir(), "x", "rows.csv")
		j, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(round(0)); err != nil {
			t.Fatal(err)
		}
		if err := c.do(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		err = j.Append(round(1))
		var lost *LostError
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), path+" "+c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the append changed the file", name)
		}
		j.Close()
		saved, err := Rescue(path, append(round(0), round(1)...))
		if err != nil || saved != filepath.Join(filepath.Dir(path), "rows.rescued.csv") {
			t.Fatalf("%s: saved as %q, %v", name, saved, err)
		}
		again, rows, _, err := Resume(t.Context(), saved)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%s: what was saved has %d rows, %v", name, len(rows), err)
		}
		again.Close()
		if next, err := Rescue(path, round(0)); err != nil || filepath.Base(next) != "rows.rescued-2.csv" {
			t.Errorf("%s: a second time %q, %v", name, next, err)
		}
	}
}

// TestResume_KeepsDropped: whole rows behind the last closed round lie in a file of
// their own afterwards; a torn one alone is no reason for one.
func TestResume_KeepsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(round(0)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	whole, _ := os.ReadFile(path)
	_, row, _ := strings.Cut(strings.TrimSpace(string(whole)), "\n")
	open := strings.Replace(strings.Replace(row, `"1"`, "1", 1), ",0,0,", ",7,0,", 1) + "\n"
	for _, c := range []struct {
		rest string
		rows int
	}{{open[:20], 0}, {open + open[:9], 1}} {
		if err := os.WriteFile(path, append(whole, c.rest...), 0o666); err != nil {
			t.Fatal(err)
		}
		j, rows, repair, err := Resume(t.Context(), path)
		if err != nil || len(rows) != 1 || repair.Rows != c.rows || repair.Bytes != int64(len(c.rest)) || (repair.Kept != "") != (c.rows > 0) {
			t.Fatalf("%d rows, %+v, %v", len(rows), repair, err)
		}
		j.Close()
		if repair.Kept == "" {
			continue
		}
		f, err := ReadFile(repair.Kept)
		if err != nil || len(f.Rows) != c.rows || f.Torn == nil || filepath.Base(repair.Kept) != "rows.csv.dropped" {
			t.Errorf("%s: %+v, %v", repair.Kept, f, err)
		}
	}
}
