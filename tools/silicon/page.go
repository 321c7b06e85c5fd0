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
figures are used as the vendor's line of a predicted GPU, and how far they differ from each other.
It also says what they tell of each chip, and which of them are left out.

Written %s by ` + "`go run -C tools/silicon . > docs/silicon.md`" + `. The data itself is not in the repository.

## What the times are

The source is aiconfigurator-core %s (PyPI, Apache-2.0). Its measuring programs are public (github.com/ai-dynamo/aiconfigurator, folder collector).
A collector is named by the framework whose layers it times.
Each times a CUDA graph of several layers with weights of their own: up to six in vLLM's and sglang's, five in TensorRT-LLM's. After warm-ups it is replayed six times.
All layers take the same A. Nothing empties the L2 cache.

- **Small weights stay in the L2 cache** where all layers of a graph fit it. Six times 16 MB fit an L40S, six times 8 MB an H100. Such a product can be faster than memory delivers its weights. This project's own measurements find operands in memory ([gpu.md](gpu.md#what-is-measured)). The upper end of row ` + "`xla`" + `'s band has the time of such a read.
- **Launches** are those of a graph: one product after the other on the device, without the host. The slope of a loop, by which v5 was timed, has the same in it.
- **Short runs.** Six replays of 8192³ take less than a tenth of a second on an H100. A GPU that has been busy for longer may have a lower clock.

| dtype | whose product | collector | inputs | in the time |
| --- | --- | --- | --- | --- |
| bfloat16 | PyTorch's linear layer (cuBLAS) | vllm | A normal, B as memory was found | the product |
| float8_e4m3fn | CUTLASS, as vLLM calls it | vllm | A normal, B one constant | the product and the quantization of A |
| int8 | CUTLASS, as TensorRT-LLM 1.0 calls it (SmoothQuant) | trtllm | not said | the product |

- **float8 rows have the quantization of A in them.** The files of all seven GPUs came with pull request 1344 of the collector (2026-07-13). The wheel's are the same, byte for byte. The collector of that change has dynamic scales: A is bfloat16, and each layer quantizes it again, one scale a row. Some older versions had static scales.
- The wheel also has the time of the quantization alone, by m and k, in graphs of the same collector. The table has the difference, as the wheel's own reader takes it for an input that is float8 already. The quantization is a fifth of the median row of an H100.
- float8 rows of sglang and TensorRT-LLM are not used. The wheel has their quantization too. It is more than two thirds of the time in half of sglang's rows and in a quarter of TensorRT-LLM's. So it is not what is in them.
- A check of the difference: 4096³ on an H200 is %.0f µs here, and %.0f µs with the quantization. PyTorch's scaled product took 112 µs on another H200 ([notebook](notebook/gpu.md)).
- B is one constant in float8, which costs little power. That may be why an L40S multiplies some shapes more than three times as fast as in bfloat16.
- Row ` + "`xla (cublas)`" + ` of bench has any of the three, though float8 and int8 are CUTLASS's.
- Above m = 16, CUTLASS takes up to twice as long where m is not a multiple of it. So the float8 tables answer for multiples alone.
- One float8 row in 25 of the B200 takes half as long again as its neighbours, or more. Its quantization is not why: the rows say so before anything is taken off. The table leaves these out; held-out rows keep them.
- **int8** rows are of the A100 alone. "int8_wo" rows multiply bfloat16 by int8 and are not used.
- An L4, an A30, and the PCIe boards of the A100 and the H100 have no rows: the wheel only describes them.

## Rows that are left out

By a rule for every dtype, rows are not used, nor anything made of them, where

- **quantization** is more than two thirds of a float8 row's time, so that the difference has a multiple of both errors;
- the rate is above the published **peak**;
- of A and B, what the L2 cache cannot hold comes faster than the published **bandwidth**.

Where a table's neighbours of such a shape have times, it has what they say; else it has none there. GPUs, dtypes and collectors that are not here lost no row.

`

const interpolation = `
## How far interpolation is off

This is of interpolation alone, between times of one collector on one GPU. It does not say how far another
GPU, library, other inputs or another clock are off.

One shape in five, chosen by hash, is not used for the table. The table has each m that is a power of
two or three times one; the held-out shapes also have values of m between them. An error is
|interpolated / measured − 1|.

`

const bands = `
## The band of row xla

Row ` + "`xla (cublas)`" + ` has a band: nine of ten times of any collector, at held-out shapes, over the table's.
It has what collectors do not agree on, and interpolation. One collector alone measured float8 and int8: their bands
reach at least as far as bfloat16's on the same GPU. Two of three times of XLA on an H200
lie in the band, at 2048 and 4096. The third, at 8192, is 11 % shorter than the table's ([prediction_gpu.md](prediction_gpu.md#beside-row-xla)).

| GPU | dtype | collectors | times | band |
| --- | --- | --- | ---: | --- |
`

const chips = `**Sustained** is the rate that nine of ten large bfloat16 products (0.4 to 4 TFLOP) stay below, as part of the published peak. It is near the best of them, and a median product is slower. Power limits the clock under load, and more so where many bits of the inputs change. sglang's A and B are both normal. vLLM's B is memory as it was found, which may be zeros. Its rates show how much faster a chip is on inputs that cost less power.

**Memory** is the part of the published bandwidth that is reached. **The rest** is what a product takes more than that: its start and end, and the gap to the next in a graph. Both are fitted to products of at most 8 rows with weights above 60 MB, by least squares of the relative error. Such weights do not stay in the L2 cache. **Smallest** is the shortest time of any product. Package machine has sustained rates and memory from here.

| GPU | sustained, sglang | sustained, vLLM | memory, sglang | the rest | smallest |
| --- | ---: | ---: | ---: | ---: | ---: |
`

const doubtful = `
## Doubtful rows that are used

A rate near the peak hints at inputs of zeros. **Above the bandwidth** are rows that move their operands faster than memory could, as the L2 cache had some. The column after it has those of m ≤ 16, and by how much.

| GPU | dtype | collector | rows | above 93 % of the peak | the highest | above the bandwidth | m ≤ 16 | slower than a larger m by 20 % |
| --- | --- | --- | ---: | ---: | --- | ---: | --- | ---: |
`

func page(w io.Writer, gpus []gpu) error {
	check := shape{4096, 4096, 4096}
	half, whole := 0., 0.
	for _, g := range gpus {
		if g.device == "nvidia_h200" && g.kind.name == float8.name {
			half = 1e6 * g.seconds[g.kind.collector][check]
			whole = half + 1e6*g.off[[2]int{check[0], check[2]}]
		}
	}
	fmt.Fprintf(w, head, time.Now().UTC().Format(time.DateOnly), version, half, whole)
	fmt.Fprint(w, "| GPU | dtype | collector | rows | quantization | peak | bandwidth |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, g := range gpus {
		for _, who := range g.collectors() {
			n := g.dropped[who]
			if len(n) == 0 {
				continue
			}
			fmt.Fprintf(w, "| %s | %s | %s %s | %d | %d | %d | %d |\n", g.device, g.kind.name, who, g.versions[who],
				len(g.seconds[who])+n[mostlyOff]+n[overPeak]+n[overMemory], n[mostlyOff], n[overPeak], n[overMemory])
		}
	}
	fmt.Fprint(w, interpolation)
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
	fmt.Fprint(w, bands)
	for _, g := range gpus {
		fmt.Fprintf(w, "| %s | %s | %s | %d | %.2f to %.2f |\n", g.device, g.kind.name, strings.Join(g.collectors(), ", "), g.banded, g.table.Least, g.table.Most)
	}
	fmt.Fprint(w, "\n## What they tell of the chips\n\n")
	fmt.Fprint(w, chips)
	for _, g := range gpus {
		if g.kind.name == bfloat16.name {
			g.tells(w)
		}
	}
	fmt.Fprint(w, "\n## Where collectors disagree\n\nThe same bfloat16 product by three collectors, TFLOP/s. Each has its own inputs and clocks; none is averaged with another.\n\n")
	fmt.Fprint(w, "| GPU | collector | 1024 | 2048 | 4096 | 8192 | 16384 |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	all := gpus
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
	fmt.Fprint(w, doubtful)
	for _, g := range all {
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
	peak, bandwidth := g.chip.PeakAt(g.kind.name, "").Value, g.chip.BandwidthBytesPerSecond.Value
	near, fast, few, slow := 0, 0, 0, 0
	best, most, about := 0., 0., ""
	rows := g.seconds[who]
	for s, t := range rows {
		part := s.flops() / t / peak
		if part > .93 {
			near++
		}
		if text := fmt.Sprintf("%.0f %%, %d×%d×%d", 100*part, s[0], s[2], s[1]); part > best || part == best && text < about {
			best, about = part, text
		}
		if over := s.bytes(g.kind.bytes) / t / bandwidth; over > 1 {
			fast++
			if s[0] <= 16 {
				few++
				most = max(most, over)
			}
		}
		if more, ok := rows[shape{2 * s[0], s[1], s[2]}]; ok && t > 1.2*more {
			slow++
		}
	}
	cached := "0"
	if few > 0 {
		cached = fmt.Sprintf("%d, %.1f times at most", few, most)
	}
	fmt.Fprintf(w, "| %s | %s | %s %s | %d | %d | %s | %d | %s | %d |\n", g.device, g.kind.name, who, g.versions[who], len(rows), near, strings.TrimSpace(about), fast, cached, slow)
}
