package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"matladder/harness/tuned"
	"matladder/internal/thoroughtest"
)

// childVariable makes a child of this test's executable, and is its first problem.
const childVariable = "TUNE_TEST_CHILD"

const childFailed = 3

// keepRows is a child: it keeps row after row, and says so of each.
func keepRows(path string, from int) {
	for size := from; ; size++ {
		row := rowOf(jobOf(size), tuned.ByEvidence, "now")
		if _, taken, err := new(flags).keep(context.Background(), path, "here", row, tuned.Row{}); err != nil || !taken {
			fmt.Fprintln(os.Stderr, taken, err)
			os.Exit(childFailed)
		}
		fmt.Println(size)
	}
}

// TestKeep_Killed: of processes that are killed at any moment, every row that one has
// kept is in the table, which is whole at any time.
func TestKeep_Killed(t *testing.T) {
	const atOnce, each = 3, 1000
	children := 15 / thoroughtest.OneIn(1, 3, 3)
	path := filepath.Join(t.TempDir(), "t.yaml")
	type child struct {
		*exec.Cmd
		kept bytes.Buffer
	}
	var all []*child
	sawRows := 0
	for i := range children {
		c := &child{Cmd: exec.Command(os.Args[0], path)}
		c.Env = append(os.Environ(), childVariable+"="+strconv.Itoa(1+each*i))
		c.Stdout, c.Stderr = &c.kept, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		if all = append(all, c); i < atOnce-1 {
			continue
		}
		until := time.Now().Add(time.Duration(rand.ExpFloat64() * float64(50*time.Millisecond)))
		for before := sawRows; sawRows == before || time.Now().Before(until); {
			table, err := tuned.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || len(table.Rows) < sawRows {
				t.Fatalf("after %d rows: %v", sawRows, err)
			}
			sawRows = len(table.Rows)
		}
		all[i-atOnce+1].Process.Kill()
	}
	kept := 0
	for _, c := range all {
		c.Process.Kill()
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() == childFailed {
			t.Errorf("a child ended by itself: %v", err)
		}
	}
	table, err := tuned.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, line := range bytes.Fields(c.kept.Bytes()) {
			size, _ := strconv.Atoi(string(line))
			if _, ok := table.Row(jobOf(size).Key()); !ok {
				t.Errorf("%d is lost", size)
			}
			kept++
		}
	}
	if kept == 0 || len(table.Rows) < kept || len(table.Rows) > kept+children {
		t.Errorf("%d rows of %d that were kept", len(table.Rows), kept)
	}
	t.Logf("%d rows", kept)
}
