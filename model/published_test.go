package model

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"matladder/internal/goldentest"
)

// A published figure of an exchange, and what of it is compared: seconds, or the bytes that
// all devices send in a second.
type publishedExchange struct {
	what             string
	chip, mesh, axis string
	kind             string
	bytes            int64
	figure           float64
	rate             bool // figure is bytes/s of the pod
	measured         bool
	source           string
}

const (
	book   = "How to Scale Your Model, sharding.md"
	google = "Google Cloud documentation of the chip: all-reduce bandwidth of a pod"
)

// publishedExchanges are all figures that were found; no constant of the model was
// fitted to them.
var publishedExchanges = []publishedExchange{
	{"all-gather of bf16[2048,8192] among 4 in a line", "v5e", "data=8,model=4", "model", "all-gather", 2048 * 8192 * 2, 680e-6, false, true, book + ", profile"},
	{"all-gather of bf16[256,256] among 4 in a line", "v5e", "data=8,model=4", "model", "all-gather", 256 * 256 * 2, 8e-6, false, true, book + ", profile"},
	{"all-gather of bf16[1024,1024] in a ring of 4", "v4", "data=16,model=4", "model", "all-gather", 1024 * 1024 * 2, 23e-6, false, false, book + ", question 2"},
	{"all-gather of bf16[1024,4096] on a torus of 4×4", "v4", "data=4,model=16", "model", "all-gather", 1024 * 4096 * 2, 46e-6, false, false, book + ", question 2"},
	{"all-gather of 256 bytes in a ring of 4", "v4", "data=16,model=4", "model", "all-gather", 256, 2e-6, false, false, book + ", question 3"},
	{"all-reduce of 1 GiB on the pod", "v4", "data=1,model=4096", "model", "all-reduce", 1 << 30, 1.1e15, true, false, google},
	{"all-reduce of 1 GiB on the pod", "v5e", "data=1,model=256", "model", "all-reduce", 1 << 30, 51.2e12, true, false, google},
	{"all-reduce of 1 GiB on the pod", "v6e", "data=1,model=256", "model", "all-reduce", 1 << 30, 102.4e12, true, false, google},
}

// TestPublished writes the model's figures and published ones into docs/notebook/scaling.md: no
// bound is set on how far they are off.
func TestPublished(t *testing.T) {
	var table strings.Builder
	table.WriteString("| exchange | chip, mesh | published | predicted | least – most | off | published is | source |\n| --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n")
	for _, c := range publishedExchanges {
		p := placed(t, c.chip, c.mesh)
		time := p.Collective(c.kind, c.bytes, c.axis)
		of := func(seconds float64) float64 { return seconds }
		show := func(v float64) string { return fmt.Sprintf("%.3g µs", v*1e6) }
		if c.rate {
			devices := float64(p.mesh.Devices())
			sent := 2 * float64(c.bytes) * (devices - 1) // a device sends all but its own part, twice
			of = func(seconds float64) float64 { return sent / seconds }
			show = func(v float64) string { return fmt.Sprintf("%.4g TB/s", v/1e12) }
		}
		least, most := of(time.Least), of(time.Most)
		kind := "an estimate"
		switch {
		case c.measured:
			kind = "measured"
		case c.rate:
			kind = "nominal"
		}
		fmt.Fprintf(&table, "| %s | %s %s | %s | %s | %s – %s | %+.0f %% | %s | %s |\n", c.what, c.chip, c.mesh, show(c.figure), show(of(time.Seconds)),
			show(math.Min(least, most)), show(math.Max(least, most)), 100*(of(time.Seconds)/c.figure-1), kind, c.source)
	}
	const page, begin, end = "../docs/notebook/scaling.md", "<!-- published:begin -->\n", "<!-- published:end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		t.Fatalf("%s has no marks around the table", page)
	}
	goldentest.Assert(t, page, bytes.Join([][]byte{before, []byte(begin), []byte(table.String()), []byte(end), after}, nil))
}
