package cpu

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/chips"
	"matladder/tile"
)

// Device describes this machine with the default number of workers and
// instruction set. Peaks, bandwidth and what block shapes are ranked by are measured on
// the first call, which then takes about a second, unless a file in the user's cache directory has
// them already; Options.NoProbe leaves them unknown.
func (b *Backend) Device() chips.Device {
	b.probing.Lock()
	defer b.probing.Unlock()
	if b.probed == nil {
		m := b.recall()
		b.probed = &m
	}
	return b.describe(*b.probed)
}

// Probe measures peaks and bandwidth once more, in about a second.
func (b *Backend) Probe(ctx context.Context) chips.Device {
	d := b.Device()
	if b.options.NoProbe {
		return d
	}
	b.probing.Lock()
	defer b.probing.Unlock()
	m := b.measure(ctx)
	m.raise(*b.probed)
	if kept, ok := readMeasurements(m.file(), m); ok { // by another process meanwhile
		m.raise(kept)
	}
	m.write(m.file())
	b.probed = &m
	return b.describe(m)
}

func (b *Backend) describe(m measurements) chips.Device {
	h := probe.Host()
	d := chips.Device{
		Key:   "cpu_" + slug(m.CPU),
		Names: []string{m.CPU},
		Kind:  chips.CPU,
		Note:  note(m.ISA, m.Threads),

		Cores: h.Cores, DevicesPerChip: 1, Parallel: m.Threads, Blocking: m.Cores,

		Peak:                map[string]chips.Figure{},
		FastBytes:           asked(h.L2, "L2 of one core, from the processor or the operating system"),
		LastLevelCacheBytes: asked(h.L3, "last-level cache, from the processor or the operating system"),
		MemoryBytes:         asked(int(totalMemory()), "from the operating system"),
	}
	d.FastDefaultBytes = d.FastBytes
	for dtype, v := range m.Peak {
		d.Peak[dtype] = chips.Figure{Value: v, Measured: true,
			Source: fmt.Sprintf("measured: multiply-adds in registers, %s, %d threads", m.ISA, m.Threads)}
	}
	if m.Bandwidth > 0 {
		d.BandwidthBytesPerSecond = chips.Figure{Value: m.Bandwidth, Measured: true,
			Source: fmt.Sprintf("measured: best of sum and triad beyond the caches, %d threads", m.Threads)}
	}
	return d
}

// recall reads what an earlier process measured, or measures and writes it.
// Neither a missing nor a broken nor an unwritable file is an error.
func (b *Backend) recall() measurements {
	m := b.unmeasured()
	if b.options.NoProbe {
		return m
	}
	file := m.file()
	if kept, ok := readMeasurements(file, m); ok {
		return kept
	}
	if b.options.Probing != nil {
		b.options.Probing(file)
	}
	m = b.measure(context.Background())
	m.Cores = b.measureCores(context.Background(), m.Bandwidth)
	m.write(file)
	return m
}

// measure runs the probes.
func (b *Backend) measure(ctx context.Context) measurements {
	m := b.unmeasured()
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		if v := probe.PeakFLOPs(ctx, m.ISA, d.String(), m.Threads); v > 0 {
			m.Peak[d.String()] = v
		}
	}
	m.Bandwidth = probe.Bandwidth(ctx, m.Threads)
	return m
}

func (b *Backend) unmeasured() measurements {
	return measurements{
		CPU: cmp.Or(probe.Host().Name, "unknown CPU"), ISA: b.options.ISA, Threads: b.options.Threads,
		Peak: map[string]float64{},
	}
}

// note says what programs are compiled for: "avx512, 2 threads".
func note(isa string, threads int) string {
	s := fmt.Sprintf("%s%s, %d thread", isa, passedOver(isa), threads)
	if threads != 1 {
		s += "s"
	}
	return s
}

// passedOver says why the next better instruction set than the one in use is
// not used although the processor has it.
func passedOver(isa string) string {
	if isa != gemm.AVX512.String() || !cpu.X86.HasAMXTile {
		return ""
	}
	if missing := gemm.AMX.Missing(); len(missing) > 0 {
		return fmt.Sprintf(" (not amx, for lack of %s)", strings.Join(missing, ", "))
	}
	return ""
}

func asked(bytes int, source string) chips.Figure {
	if bytes <= 0 {
		return chips.Figure{}
	}
	return chips.Figure{Value: float64(bytes), Source: source}
}

// slug keeps letters and digits, and one underscore for what is between them.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return strings.Join(words, "_")
}
