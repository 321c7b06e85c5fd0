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
It also says what they tell of each chip, and which of them are doubtful.

Written %s by ` + "`go run -C tools/silicon . > docs/silicon.md`" + `. The data itself is not in the repository.

## What the times are

The source is aiconfigurator-core %s (PyPI, Apache-2.0), whose measuring programs are public (github.com/ai-dynamo/aiconfigurator, folder collector).
They are named by the framework whose layers they time. Each times a CUDA graph of up to six layers with weights of their own, so small weights are not left in the L2 cache.
What a launch costs inside of a graph is in each time.

| dtype | whose product | collector | inputs | in the time |
| --- | --- | --- | --- | --- |
| bfloat16 | PyTorch's linear layer (cuBLAS) | vllm | A normal, B as memory was found | the product |
| float8_e4m3fn | CUTLASS, as vLLM calls it | vllm | A normal, B one constant | the product and the quantization of A |
| int8 | CUTLASS, as TensorRT-LLM 1.0 calls it (SmoothQuant) | trtllm | not said | the product |

- **All three collectors' float8 rows have the quantization of A in them.** The wheel also has the time of that alone, by m and k, in graphs of the same collector. The table has the difference, as the wheel's own reader takes it where the input is float8 already. The quantization is a fifth of the median row of an H100.
- A check of the difference: 4096³ on an H200 is %.0f µs here. PyTorch's scaled product took 112 µs on another H200 ([notebook](notebook/gpu.md)).
- Row ` + "`xla (cublas)`" + ` of bench has any of the three, though float8 and int8 are CUTLASS's.
- CUTLASS takes up to twice as long where m is not a multiple of 16, above that, so the float8 tables answer for multiples alone.
- One float8 row in ten of the B200 takes 20 µs more than its neighbours, at no rule. The table leaves out what is half as slow again as its neighbours say; held-out rows keep it.
- **int8** rows are of the A100 alone. "int8_wo" rows multiply bfloat16 by int8 and are not used.
- An L4, an A30, and the PCIe boards of the A100 and the H100 have no rows: the wheel only describes them.

## How far the table is off

One shape in five, chosen by hash, is not used for the table. The table has each m that is a power of
two or three times one; the held-out shapes also have values of m between them. An error is
|interpolated / measured − 1|.

`

func page(w io.Writer, gpus []gpu) error {
	half := 0.
	for _, g := range gpus {
		if g.device == "nvidia_h200" && g.kind.name == float8.name {
			half = 1e6 * g.seconds[g.kind.collector][shape{4096, 4096, 4096}]
		}
	}
	fmt.Fprintf(w, head, time.Now().UTC().Format(time.DateOnly), version, half)
	fmt.Fprint(w, "| GPU | dtype | shapes | held-out | median error | nine of ten below | largest |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, g := range gpus {
		var all []float64
		for _, c := range classes {
			e := g.errors[c]
			all = append(all, e...)
			line(w, g, c, e)
		}
		line(w, g, "**all**", all)
	}
	fmt.Fprint(w, "\n## What they tell of the chips\n\n")
	fmt.Fprint(w, "**Sustained** is the rate that nine of ten large bfloat16 products (0.4 to 4 TFLOP) stay below, as part of the published peak. Power limits the clock under load, and more so where many bits of the inputs change. So sglang's rates, of normal A and B, are what a chip keeps up. vLLM's B may be zeros: its rates show how much faster a chip is on inputs that cost less power.\n\n")
	fmt.Fprint(w, "**Memory** is the part of the published bandwidth that is reached, and **launch** the rest of a product's time. Both are fitted to products of at most 8 rows with weights above 60 MB, by least squares of the relative error. Package machine has sustained rates and memory from here.\n\n")
	fmt.Fprint(w, "| GPU | sustained, sglang | sustained, vLLM | memory, sglang | launch | smallest product |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, g := range gpus {
		if g.kind.name == bfloat16.name {
			g.tells(w)
		}
	}
	fmt.Fprint(w, "\n## Where collectors disagree\n\nThe same bfloat16 product by three collectors, TFLOP/s. Each has its own inputs and clocks; none is averaged with another.\n\n")
	fmt.Fprint(w, "| GPU | collector | 1024 | 2048 | 4096 | 8192 | 16384 |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	gpus = slices.DeleteFunc(slices.Clone(gpus), func(g gpu) bool { return g.kind.name != bfloat16.name })
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
	fmt.Fprint(w, "\n## Doubtful rows\n\nA row is listed where its rate is above 93 % of the published peak. It is also listed where the operands do not fit the last-level cache, and the rate is above what the memory allows. A rate near the peak hints at inputs of zeros.\n\n")
	fmt.Fprint(w, "| GPU | collector | rows | above 93 % of the peak | the highest | above the bandwidth | slower than a larger m by 20 % |\n| --- | --- | ---: | ---: | --- | ---: | ---: |\n")
	for _, g := range gpus {
		for _, who := range g.collectors() {
			g.doubt(w, who)
		}
	}
	fmt.Fprint(w, "\nA product that is slower than the same one with more rows had another kernel chosen for it, or was disturbed.\n")
	return nil
}

// tells is a line of what bfloat16 products say of a chip.
func (g *gpu) tells(w io.Writer) {
	peak, bandwidth := g.chip.PeakAt("bfloat16", "").Value, g.chip.BandwidthBytesPerSecond.Value
	sustained := func(who string) float64 {
		var rates []float64
		for s, t := range g.seconds[who] {
			if f := s.flops(); f > 4e11 && f < 4e12 {
				rates = append(rates, f/t/peak)
			}
		}
		return quantile(rates, .9)
	}
	// 1 = launch · x + y / share, x = 1/t, y = bytes / bandwidth / t.
	var xx, xy, yy, x1, y1, smallest float64
	for s, t := range g.seconds["sglang"] {
		if smallest == 0 || t < smallest {
			smallest = t
		}
		if s[0] > 8 || 2*s[1]*s[2] < 6e7 {
			continue
		}
		x, y := 1/t, s.bytes(2)/bandwidth/t
		xx, xy, yy, x1, y1 = xx+x*x, xy+x*y, yy+y*y, x1+x, y1+y
	}
	det := xx*yy - xy*xy
	launch, inverse := (x1*yy-y1*xy)/det, (xx*y1-xy*x1)/det
	fmt.Fprintf(w, "| %s | %.2f | %.2f | %.2f | %.1f µs | %.1f µs |\n", g.device, sustained("sglang"), sustained("vllm"), 1/inverse, 1e6*launch, 1e6*smallest)
}

func line(w io.Writer, g gpu, class string, e []float64) {
	if len(e) > 0 {
		fmt.Fprintf(w, "| %s | %s | %s | %d | %.1f %% | %.1f %% | %.0f %% |\n", g.device, g.kind.name, class, len(e), 100*median(e), 100*quantile(e, .9), 100*slices.Max(e))
	}
}

func (g *gpu) disagreement(w io.Writer) {
	var spreads []float64
	over := 0
	worst, about := 0., ""
	for s := range g.seconds[g.kind.collector] {
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
		if s.bytes(2) > 2*cache && s.bytes(2)/t > bandwidth {
			fast++
		}
		if more, ok := rows[shape{2 * s[0], s[1], s[2]}]; ok && t > 1.2*more {
			slow++
		}
	}
	fmt.Fprintf(w, "| %s | %s %s | %d | %d | %s | %d | %d |\n", g.device, who, g.versions[who], len(rows), near, strings.TrimSpace(about), fast, slow)
}
