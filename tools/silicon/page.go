package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const head = `# Public measurements of real GPUs

Others measured matrix products on GPUs that this project has not met. This page says how these
figures are used as the vendor's line of a predicted GPU, and how far interpolation between them is off.
It also lists which of them are doubtful.

The source is aiconfigurator-core %s (PyPI, Apache-2.0): bfloat16 products of PyTorch's linear layer,
which calls cuBLAS, by three collectors. The table takes vLLM's collector. What state caches and clocks were in, and which
values the inputs had, the package does not say.

Written %s by ` + "`go run -C tools/silicon . > docs/silicon.md`" + `. The data itself is not in the repository.

## How far the table is off

One shape in five, chosen by hash, is not used for the table. The table has each m that is a power of
two or three times one; the held-out shapes also have values of m between them. An error is
|interpolated / measured − 1|.

`

func page(w io.Writer, gpus []gpu) error {
	fmt.Fprintf(w, head, version, time.Now().UTC().Format(time.DateOnly))
	fmt.Fprint(w, "| GPU | shapes | held-out | median error | nine of ten below | largest |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, g := range gpus {
		var all []float64
		for _, c := range classes {
			e := g.errors[c]
			all = append(all, e...)
			line(w, g.device, c, e)
		}
		line(w, g.device, "**all**", all)
	}
	fmt.Fprint(w, "\n## Where collectors disagree\n\nThe same product by three collectors, TFLOP/s. Each has its own inputs, clocks and launches; none is averaged with another.\n\n")
	fmt.Fprint(w, "| GPU | collector | 1024 | 2048 | 4096 | 8192 | 16384 |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, g := range gpus {
		for _, who := range g.collectors() {
			fmt.Fprintf(w, "| %s | %s %s |", g.device, who, g.versions[who])
			for n := 1024; n <= 16384; n *= 2 {
				s := shape{n, n, n}
				if t, ok := g.seconds[who][s]; ok {
					fmt.Fprintf(w, " %.0f |", s.flops()/t/1e12)
				} else {
					fmt.Fprint(w, " |")
				}
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprint(w, "\nThe spread is the slowest collector's time over the fastest's, less one, over all shapes that all three have.\n\n")
	fmt.Fprint(w, "| GPU | shapes | median spread | nine of ten below | over 25 % | the widest: m×k×n, fastest and slowest |\n| --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, g := range gpus {
		g.disagreement(w)
	}
	fmt.Fprint(w, "\n## Doubtful rows\n\nA row is listed where its rate is above 93 % of the published peak. It is also listed where the operands do not fit the last-level cache, and the rate is above what the memory allows. Clocks fall under load, and random inputs cost power, so a rate near the peak hints at inputs of zeros or at few launches.\n\n")
	fmt.Fprint(w, "| GPU | collector | rows | above 93 % of the peak | the highest | above the bandwidth | slower than a larger m by 20 % |\n| --- | --- | ---: | ---: | --- | ---: | ---: |\n")
	for _, g := range gpus {
		for _, who := range g.collectors() {
			g.doubt(w, who)
		}
	}
	fmt.Fprint(w, "\nA product that is slower than the same one with more rows had another kernel chosen for it, or was disturbed.\n")
	return nil
}

func line(w io.Writer, device, class string, e []float64) {
	if len(e) > 0 {
		fmt.Fprintf(w, "| %s | %s | %d | %.1f %% | %.1f %% | %.0f %% |\n", device, class, len(e), 100*median(e), 100*quantile(e, .9), 100*slices.Max(e))
	}
}

func (g *gpu) disagreement(w io.Writer) {
	var spreads []float64
	over := 0
	worst, about := 0., ""
	for s := range g.seconds[collector] {
		low, high, from, to := 0., 0., "", ""
		for _, who := range g.collectors() {
			t, ok := g.seconds[who][s]
			if !ok {
				low = 0
				break
			}
			if low == 0 || t < low {
				low, from = t, who
			}
			if t > high {
				high, to = t, who
			}
		}
		if low == 0 {
			continue
		}
		spread := high/low - 1
		spreads = append(spreads, spread)
		if spread > .25 {
			over++
		}
		if text := fmt.Sprintf("%d×%d×%d, %s %.3g µs, %s %.3g µs", s[0], s[2], s[1], from, 1e6*low, to, 1e6*high); spread > worst || spread == worst && text < about {
			worst, about = spread, text
		}
	}
	if len(spreads) > 0 {
		fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %d | %s |\n", g.device, len(spreads), 100*median(spreads), 100*quantile(spreads, .9), over, about)
	}
}

func (g *gpu) doubt(w io.Writer, who string) {
	peak, bandwidth, cache := g.chip.PeakAt("bfloat16", "").Value, g.chip.BandwidthBytesPerSecond.Value, g.chip.LastLevelCacheBytes.Value
	near, fast, slow := 0, 0, 0
	best, about := 0., ""
	rows := g.seconds[who]
	for s, t := range rows {
		part := s.flops() / t / peak
		if part > .93 {
			near++
		}
		if text := fmt.Sprintf("%.0f %%, %d×%d×%d", 100*part, s[0], s[2], s[1]); part > best || part == best && text < about {
			best, about = part, text
		}
		if s.bytes() > 2*cache && s.bytes()/t > bandwidth {
			fast++
		}
		if more, ok := rows[shape{2 * s[0], s[1], s[2]}]; ok && t > 1.2*more {
			slow++
		}
	}
	fmt.Fprintf(w, "| %s | %s %s | %d | %d | %s | %d | %d |\n", g.device, who, g.versions[who], len(rows), near, strings.TrimSpace(about), fast, slow)
}
