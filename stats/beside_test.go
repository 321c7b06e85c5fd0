package stats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"matladder/results"
)

// besideRows are two products of one size in the same rounds, each of which is up
// to 30 % slower than the first for all.
func besideRows(beside string) []results.Record {
	var rows []results.Record
	add := func(kernel, variant, dtype, quant string, bm, rounds int, factor float64) {
		for round := range rounds {
			rows = append(rows, results.Record{
				Schema: results.Schema, RunID: "r1", Host: "here", Chip: "cpu_some", Backend: "cpu", Kernel: kernel, Variant: variant, Mode: results.Measured,
				Method: results.Direct, Status: results.OK, Batch: 1, M: 64, K: 64, N: 64, DtypeA: dtype, DtypeB: "int8", DtypeOut: "bfloat16",
				Quant: quant, BM: bm, BK: 64, BN: 64, Threads: 2, Beside: beside, Round: round, Launches: 2,
				Seconds: 2 * factor * 1e-3 * (1 + 0.1*float64(round%4)),
			})
		}
	}
	add("v5_quant", "", "bfloat16", "per_channel+dynamic_token", 64, 8, 1.25) // the order of rows says nothing
	add("v5_quant", "", "int8", "per_channel+token", 32, 8, 1.5)
	add("v5_quant", "", "int8", "per_channel+token", 64, 8, 1)
	add("v5_quant", "fused", "bfloat16", "per_channel+dynamic_token", 64, 3, 1.125)
	add("v6_new", "", "bfloat16", "per_channel+dynamic_token", 64, 8, 1)
	return rows
}

func TestCosts(t *testing.T) {
	summaries := Best(Summarize(besideRows("int8×int8→bfloat16 per_channel+token")))
	var got []string
	for _, c := range Costs(summaries) {
		base := "alone"
		if c.Base != nil {
			base = fmt.Sprint(c.Base.BM)
		}
		got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%s %s: %s %.4g %.4g %.4g %v", c.Point.Kernel, c.Point.Variant, base, c.Times.Median, c.Times.Lo, c.Times.Hi, c.Times.Sure())), " "))
	}
	want := "v5_quant : 64 1.25 1.25 1.25 true; v5_quant fused: 64 1.125 1.125 1.125 false; v6_new : alone 0 0 0 false"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "; "), want)
	}
	var text bytes.Buffer
	if err := WriteTable(&text, "text", summaries); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(text.String(), "beside int8×int8→bfloat16 per_channel+token · cpu_some · here · measured · 2 threads\n")
	for _, line := range []string{"1.250  1.250 – 1.250\n", "1.125  1.125 – 1.125 (n=3)\n"} {
		if !strings.Contains(table, line) {
			t.Errorf("no %q in:\n%s", line, text.String())
		}
	}
}

// TestCosts_Apart: products that had their own rounds are not compared.
func TestCosts_Apart(t *testing.T) {
	if list := Costs(Summarize(besideRows(""))); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	if l := NewLadder(Summarize(besideRows(""))); len(l.Sections) != 2 {
		t.Errorf("%d sections", len(l.Sections))
	}
}
