package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

func jobOf(size int) tune.Job {
	return tune.Job{Kernel: kernels.All[3], Problem: problem.New(size, size, size, tile.Float32)}
}

func rowOf(j tune.Job, ended, versions string) tuned.Row {
	return tuned.Row{Key: j.Key(), Blocks: tile.Blocks{M: 8, K: 8, N: 8},
		Evidence: tuned.Evidence{Mode: tuned.Measured, Seconds: 1, Low: 1, High: 1, Ended: ended, Versions: versions}}
}

// TestTodo: what has no row comes before what was ended by the budget, and has all of
// the time; the rest is done until it is asked for again.
func TestTodo(t *testing.T) {
	none, more, cut, cutToo, old, fine := jobOf(1), jobOf(2), jobOf(3), jobOf(4), jobOf(5), jobOf(6)
	var table tuned.Table
	table.Put(rowOf(cut, tuned.ByBudget, "now"))
	table.Put(rowOf(cutToo, tuned.ByBudget, "before"))
	table.Put(rowOf(old, "", "before"))
	table.Put(rowOf(fine, tuned.ByEvidence, "now"))
	of := func(j tune.Job) state { return stateOf(j, &table, "now") }
	for _, test := range []struct {
		again bool
		want  []tune.Job
		parts []time.Duration // of what is left
	}{
		{false, []tune.Job{none, more, cut, cutToo}, []time.Duration{2, 1, 2, 2}},
		{true, []tune.Job{none, more, cut, cutToo, old, fine}, []time.Duration{2, 1, 2, 2, 1, 1}},
	} {
		f := flags{again: test.again}
		jobs := f.todo([]tune.Job{fine, old, cut, none, cutToo, more}, of)
		if !slices.EqualFunc(jobs, test.want, func(a, b tune.Job) bool { return a.Key() == b.Key() }) {
			t.Errorf("again %v: %v", test.again, jobs)
		}
		share := shares(jobs, of)
		for i, part := range test.parts {
			if s := share(i, time.Hour); s != time.Hour/part {
				t.Errorf("again %v: job %d of %d has %v of an hour", test.again, i, len(jobs), s)
			}
		}
	}
}

// TestEach: shares grow by what others leave, those that need more than is left are
// skipped, and the end says what is done and how to go on.
func TestEach(t *testing.T) {
	const hour = time.Hour
	jobs := []tune.Job{jobOf(1), jobOf(2), jobOf(3), jobOf(4)}
	var table tuned.Table
	f := flags{budget: 4 * hour}
	var had []time.Duration
	var stderr bytes.Buffer
	measure := func(_ string, j tune.Job, share, left time.Duration, _ func(tune.Event)) (func() error, error) {
		had = append(had, share.Round(time.Minute))
		switch j.Problem.Sizes()[0] {
		case 2:
			return nil, fmt.Errorf("2: %w", &tune.ShareError{Needed: left + 2*hour, Have: left})
		case 3:
			return nil, errors.New("broken")
		}
		return func() error { table.Put(rowOf(j, tuned.ByEvidence, "")); return nil }, nil
	}
	share := shares(jobs, func(tune.Job) state { return untuned })
	done, err := f.each(context.Background(), time.Now(), jobs, share, &stderr, measure)
	if want := (tally{done: 2, failed: 1, left: 1, least: done.least}); err != nil || done != want || done.least.Round(time.Minute) != 6*hour {
		t.Errorf("%+v %v", done, err)
	}
	if want := []time.Duration{hour, 4 * hour / 3, 2 * hour, 4 * hour}; !slices.Equal(had, want) {
		t.Errorf("shares %v", had)
	}
	if s := stderr.String(); !strings.Contains(s, "not done: 2: needs about 6h0m0s, and has 4h0m0s\n") || !strings.Contains(s, "tune: broken\n") {
		t.Error(s)
	}
	if s := f.remaining(jobs, &table, done); s != "; 2 of 4 problems tuned; run again to go on" {
		t.Error(s)
	}
	table.Put(rowOf(jobs[3], tuned.ByBudget, ""))
	if s := f.remaining(jobs, &table, tally{least: 90 * time.Second}); s != "; 2 of 4 problems tuned, 1 of them ended by the budget; run again with a --time-budget above 1m30s to go on" {
		t.Error(s)
	}

	stderr.Reset()
	done, err = f.each(context.Background(), time.Now().Add(-f.budget), jobs, share, &stderr, measure)
	if want := (tally{left: 4}); err != nil || done != want || strings.Count(stderr.String(), ": time is up\n") != 4 || len(had) != 4 {
		t.Errorf("%+v %v %s", done, err, &stderr)
	}
}

// cancels is an output that cancels, or does something else, when a row of a problem is
// written to it.
type cancels struct {
	bytes.Buffer
	cancel func()
}

func (c *cancels) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(": blocks ")) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// TestInterrupted: before the first row there is no table; after it the table has that
// row, and the same command goes on with the others and leaves it as it is.
func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--sizes", "4,8", "--dtype", "float32", "--kernel", "4", "--threads", "1", "--candidates", "2", "--param", "b=packed", "--out", "t.yaml"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	code := Run(ctx, args, &stdout, &stderr)
	if _, err := os.Stat("t.yaml"); code != cli.Interrupted || err == nil || !strings.Contains(stderr.String(), "the same command goes on") {
		t.Errorf("%d %v %s", code, err, &stderr)
	}

	ctx, cancel = context.WithCancel(context.Background())
	code = Run(ctx, args, &cancels{cancel: cancel}, &stderr)
	before, err := tuned.ReadFile("t.yaml")
	if code != cli.Interrupted || err != nil || len(before.Rows) != 1 {
		t.Fatalf("%d %v %+v", code, err, before)
	}
	code, out, errs := tuneWith(args...)
	after, err := tuned.ReadFile("t.yaml")
	if code != cli.OK || err != nil || len(after.Rows) != 2 || !strings.Contains(errs, "1 problem to tune, 1 in the table") || strings.Count(out, ": blocks ") != 1 {
		t.Fatalf("%d %v\n%s\n%s", code, err, out, errs)
	}
	if have, ok := after.Row(before.Rows[0].Key); !ok || have.Evidence.Seconds != before.Rows[0].Evidence.Seconds || have.Blocks != before.Rows[0].Blocks {
		t.Errorf("%+v was %+v", have, before.Rows[0])
	}
	if files, _ := filepath.Glob("*.yaml"); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// TestMeanwhile: a problem that another process has tuned before its turn is left out.
func TestMeanwhile(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--sizes", "4,8", "--dtype", "float32", "--kernel", "4", "--threads", "1", "--candidates", "2", "--param", "b=packed", "--out", "t.yaml"}
	theirs := rowOf(jobOf(8), tuned.ByEvidence, "theirs")
	stdout := &cancels{cancel: func() {
		table, err := tuned.ReadFile("t.yaml")
		if err == nil {
			table.Put(theirs)
			err = table.WriteFile("t.yaml")
		}
		if err != nil {
			t.Error(err)
		}
	}}
	var stderr bytes.Buffer
	code := Run(context.Background(), args, stdout, &stderr)
	table, err := tuned.ReadFile("t.yaml")
	if err != nil || code != cli.OK || !strings.HasSuffix(stdout.String(), "8x8x8 float32×float32→float32: blocks 8x8x8, found by another tune meanwhile\nt.yaml: 2 rows\n") {
		t.Fatalf("%d %v\n%s\n%s", code, err, &stdout.Buffer, &stderr)
	}
	if row, _ := table.Row(theirs.Key); row.Evidence.Versions != "theirs" {
		t.Errorf("%+v", row)
	}
}

// TestBudget: too little time for any problem leaves no row and says what would do; the
// next run with enough tunes all.
func TestBudget(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"--sizes", "16", "--dtype", "float32", "--kernel", "4", "--threads", "1", "--candidates", "2", "--param", "b=packed", "--out", "t.yaml"}
	code, stdout, stderr := tuneWith(append(args, "--time-budget", "1ms")...)
	if code != cli.OK || !strings.HasPrefix(stdout, "t.yaml: 0 rows; 0 of 1 problem tuned; run again") || !strings.Contains(stderr, "not done: v4_optblock 16x16x16 float32×float32→float32: ") {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = tuneWith(append(args, "--time-budget", "10m")...)
	if code != cli.OK || !strings.Contains(stdout, ", ended by evidence\nt.yaml: 1 row\n") {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
}
