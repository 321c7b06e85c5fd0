package model

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/machine"
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
	as               exchangeUse
	source           string
}

// exchangeUse says what became of a figure.
type exchangeUse string

const (
	fittedTo  exchangeUse = "measured; fitted"
	hopFitted exchangeUse = "measured; the hop is from it"
	heldOut   exchangeUse = "measured"
	estimate  exchangeUse = "an estimate"
	nominal   exchangeUse = "nominal"
)

const (
	book   = "How to Scale Your Model, sharding.md"
	google = "Google Cloud documentation of the chip: all-reduce bandwidth of a pod"
	marin  = "marin-community/marin issue 6736"
	guide  = "accelerator-microbenchmarks, guides/collectives/all_gather.md"
)

// publishedExchanges are all figures that were found.
var publishedExchanges = func() (list []publishedExchange) {
	permute := func(what, chip, mesh string, bytes int64, us float64) {
		list = append(list, publishedExchange{"permute of " + what, chip, mesh, "model", "collective-permute", bytes, us * 1e-6, false, fittedTo, marin})
	}
	permute("1 to 16 KiB, 4.5 to 5.5 µs", "v5p", "model=4", 4<<10, 5)
	permute("1 MiB", "v5p", "model=4", 1<<20, 16.94)
	permute("64 MiB", "v5p", "model=4", 64<<20, 781.98)
	permute("1 to 16 KiB, 5.6 to 5.9 µs", "v6e", "model=8", 4<<10, 5.75)
	permute("1 MiB", "v6e", "model=8", 1<<20, 17.45)
	permute("64 MiB", "v6e", "model=8", 64<<20, 776.34)
	// Each core of four chips has a fourth of an array; the guide gives the bytes that a chip
	// receives, three fourths of both arrays, a second.
	for i, rates := range [][2]float64{{71.7703034, 69.53210305}, {129.1869148, 127.3945462}, {161.9040742, 162.0864029}, {174.765465, 174.6652133}, {178.7714158, 178.7592252}} {
		whole := int64(1<<20) << (2 * i)
		for j, slice := range []string{"data=4,model=2", "data=4,model=4"} {
			as, chips := fittedTo, "four chips"
			if j == 1 {
				as, chips = heldOut, "four chips of eight"
			}
			seconds := 2 * 0.75 * float64(whole) / (rates[j] * 1e9)
			list = append(list, publishedExchange{fmt.Sprintf("all-gather of %d MiB among %s", whole>>20, chips), "v7x", slice, "data", "all-gather", whole, seconds, false, as, guide})
		}
	}
	return append(list, []publishedExchange{
		{"all-gather of bf16[256,256] among 4 in a line", "v5e", "data=8,model=4", "model", "all-gather", 256 * 256 * 2, 8e-6, false, hopFitted, book + ", profile"},
		{"all-gather of bf16[2048,8192] among 4 in a line", "v5e", "data=8,model=4", "model", "all-gather", 2048 * 8192 * 2, 680e-6, false, heldOut, book + ", profile"},
		{"all-reduce of 2 MiB among 32 devices", "v7x", "model=32", "model", "all-reduce", 2 << 20, 123.8e-6, false, heldOut, "accelerator-microbenchmarks issue 71"},
		{"all-reduce of 8 MiB among 32 devices", "v7x", "model=32", "model", "all-reduce", 8 << 20, 162.3e-6, false, heldOut, "accelerator-microbenchmarks issue 71"},
		{"all-gather of bf16[1024,1024] in a ring of 4", "v4", "data=16,model=4", "model", "all-gather", 1024 * 1024 * 2, 23e-6, false, estimate, book + ", question 2"},
		{"all-gather of bf16[1024,4096] on a torus of 4×4", "v4", "data=4,model=16", "model", "all-gather", 1024 * 4096 * 2, 46e-6, false, estimate, book + ", question 2"},
		{"all-gather of 256 bytes in a ring of 4", "v4", "data=16,model=4", "model", "all-gather", 256, 2e-6, false, estimate, book + ", question 3"},
		{"all-reduce of 1 GiB on the pod", "v4", "data=1,model=4096", "model", "all-reduce", 1 << 30, 1.1e15, true, nominal, google},
		{"all-reduce of 1 GiB on the pod", "v5e", "data=1,model=256", "model", "all-reduce", 1 << 30, 51.2e12, true, nominal, google},
		{"all-reduce of 1 GiB on the pod", "v6e", "data=1,model=256", "model", "all-reduce", 1 << 30, 102.4e12, true, nominal, google},
	}...)
}()

// fitExchanges are the start, in µs, and the rate of a link, in GB/s, of a chip with the least
// squares of the relative error over the figures fitted to, in steps of 0.1.
func fitExchanges(t *testing.T, chip string) (start, link float64) {
	var rows []publishedExchange
	for _, c := range publishedExchanges {
		if c.chip == chip && c.as == fittedTo {
			rows = append(rows, c)
		}
	}
	p, least := placed(t, chip, rows[0].mesh), math.Inf(1)
	for s := 30.; s <= 150; s++ {
		for l := 800.; l <= 1000; l++ {
			d, loss := p.chip, 0.
			d.CollectiveSeconds.Value, d.LinkBytesPerSecond.Value = s*1e-7, l*1e8
			for _, c := range rows {
				loss += math.Pow(math.Log(p.collective(c.kind, c.bytes, []string{c.axis}, d)/c.figure), 2)
			}
			if loss < least {
				start, link, least = s/10, l/10, loss
			}
		}
	}
	return start, link
}

// TestCollectiveFits: what chips.yaml says of starts and links is what the figures give, and a
// permute on v5p and v6e is within 15 % by it.
func TestCollectiveFits(t *testing.T) {
	for _, chip := range []string{"v5p", "v6e", "v7x"} {
		start, link := fitExchanges(t, chip)
		d, err := machine.Find(chip)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f µs, %.1f GB/s", chip, start, link)
		if math.Abs(d.CollectiveSeconds.Value-start*1e-6) > 1e-9 || math.Abs(d.LinkBytesPerSecond.Value-link*1e9) > 1e6 {
			t.Errorf("%s: fitted %.1f µs and %.1f GB/s, chips.yaml has %g and %g", chip, start, link, d.CollectiveSeconds.Value, d.LinkBytesPerSecond.Value)
		}
	}
	for _, c := range publishedExchanges {
		if got := placed(t, c.chip, c.mesh).Collective(c.kind, c.bytes, c.axis).Seconds; c.as == fittedTo && math.Abs(got/c.figure-1) > 0.15 {
			t.Errorf("%s on %s: %.3g s, published %.3g", c.what, c.chip, got, c.figure)
		}
	}
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
		show := func(v float64) string {
			if v >= 1e-3 {
				return fmt.Sprintf("%.4g ms", v*1e3)
			}
			return fmt.Sprintf("%.3g µs", v*1e6)
		}
		if c.rate {
			devices := float64(p.mesh.Devices())
			sent := 2 * float64(c.bytes) * (devices - 1) // a device sends all but its own part, twice
			of = func(seconds float64) float64 { return sent / seconds }
			show = func(v float64) string { return fmt.Sprintf("%.4g TB/s", v/1e12) }
		}
		least, most := of(time.Least), of(time.Most)
		fmt.Fprintf(&table, "| %s | %s %s | %s | %s | %s – %s | %+.0f %% | %s | %s |\n", c.what, c.chip, c.mesh, show(c.figure), show(of(time.Seconds)),
			show(math.Min(least, most)), show(math.Max(least, most)), 100*(of(time.Seconds)/c.figure-1), c.as, c.source)
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
