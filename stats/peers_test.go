package stats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"matladder/results"

	"matladder/internal/goldentest"
)

// contestRows are two kernels, the baseline and peers in two sizes and with two
// numbers of threads. What slows a round down, by up to 30 %, hits all alike.
func contestRows() []results.Record {
	var rows []results.Record
	add := func(size, threads int, kernel, backend, version, variant string, rate float64, status results.Status) {
		for round := range 8 {
			r := results.Record{
				Schema: results.Schema, RunID: "r1", StartedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Host: "here", Chip: "cpu_some",
				Backend: backend, Kernel: kernel, PluginVersion: version, Variant: variant, Mode: results.Measured, Method: results.Direct, Status: status,
				Batch: 1, M: size, K: size, N: size, DtypeA: "int8", DtypeB: "int8", DtypeAcc: "int32", DtypeOut: "int32",
				Threads: threads, Round: round, Launches: 2,
			}
			flops, _ := results.FLOPCount(1, size, size, size)
			r.Seconds = 2 * float64(flops) / rate * (1 + 0.1*float64(round%4))
			if status != results.OK {
				r.Launches, r.Seconds, r.Reason = 0, 0, "made up"
			}
			rows = append(rows, r)
			if status != results.OK {
				return
			}
		}
	}
	for _, threads := range []int{2, 1} {
		for i, size := range []int{512, 1024} {
			x := float64(threads) * 1e11
			add(size, threads, "v4_optblock", "cpu", "", "", (1-0.1*float64(i))*x, results.OK)
			add(size, threads, "v5_quant", "cpu", "", "", 0.95*x, results.OK)
			add(size, threads, results.Baseline, "xla-cpu", "0.0.1", "", 0.3*x, results.OK)
			add(size, threads, "onednn", "onednn", "3.13.2", "", 0.8*x, results.OK)
			add(size, threads, "onednn", "onednn", "3.13.2", "uint8", 1.25*x, results.OK)
			add(size, threads, "onednn", "onednn", "2.6.3", "", 0.4*x, results.OK)
			add(size, threads, "blis", "blis", "0.9.0", "", x, results.Unsupported)
		}
	}
	add(1024, 1, "mkl", "mkl", "2026.2", "uint8", 9e11, results.Wrong) // so that it is never the best
	return rows
}

func TestContests(t *testing.T) {
	summaries := Best(Summarize(contestRows()))
	list := Contests(summaries)
	if len(list) != 4 {
		t.Fatalf("%d contests", len(list))
	}
	for _, c := range list {
		want, ratio := "v4_optblock", 1/1.25
		if c.Best.M == 1024 {
			want, ratio = "v5_quant", 0.95/1.25
		}
		id := fmt.Sprintf("%s, %d threads", c.Best.Size(), c.Best.Threads)
		if c.Best.Kernel != want || c.Rival.PeerName() != "onednn 3.13.2 uint8" || c.Rival.Threads != c.Best.Threads {
			t.Errorf("%s: %s against %s", id, c.Best.Kernel, c.Rival.PeerName())
		}
		if e := c.Ratio; !e.Sure() || e.N != 8 || e.Lo < ratio-1e-9 || e.Hi > ratio+1e-9 {
			t.Errorf("%s: ratio %+v, want %v whatever the round", id, e, ratio)
		}
	}
}

func TestWriteContests(t *testing.T) {
	summaries := Best(Summarize(contestRows()))
	for _, format := range []string{"text", "md"} {
		var buf bytes.Buffer
		if err := WriteContests(&buf, format, summaries); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, "testdata/contests."+format, buf.Bytes())
	}
	if err := WriteContests(&bytes.Buffer{}, "csv", summaries); err == nil {
		t.Error("csv is taken")
	}
}

// TestLadder_Peers: peers stand between the rungs and the baseline, with their
// versions, and leave what the kernels share in the title.
func TestLadder_Peers(t *testing.T) {
	l := NewLadder(Best(Summarize(contestRows())))
	if len(l.Sections) != 1 || !strings.Contains(l.Sections[0].Title, " · cpu") {
		t.Fatalf("sections %+v", l.Sections)
	}
	var names []string
	for _, row := range l.Sections[0].Rows[:14] {
		names = append(names, strings.TrimSpace(row[0]+" "+row[1]))
	}
	got := strings.Join(names, ", ")
	want := "v4_optblock, v4_optblock, v5_quant, v5_quant, blis 0.9.0, blis 0.9.0, onednn 2.6.3, onednn 2.6.3, " +
		"onednn 3.13.2, onednn 3.13.2, onednn 3.13.2 uint8, onednn 3.13.2 uint8, xla (xla-cpu), xla (xla-cpu)"
	if got != want {
		t.Errorf("order\n%s\nwant\n%s", got, want)
	}
}
