package cpu

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/probe"
	"matladder/internal/cgroup"
	"matladder/machine"
	"matladder/tile"
)

// Device describes this machine with the default number of workers and instruction set. Peaks,
// bandwidth and what block shapes are ranked by are measured on the first call, which then takes
// about a second, unless a file in the user's cache directory (ProbeFile) has them already, of a
// time when the machine was not slower than it is now; Options.NoProbe leaves them unknown.
func (b *Backend) Device() machine.Device {
	b.probing.Lock()
	defer b.probing.Unlock()
	if b.probed == nil {
		b.probed = new(b.recall())
	}
	return b.describe(*b.probed)
}

// ProbeFile is where peaks and bandwidth are kept, "" if the user has no cache
// directory. It may be deleted at any time.
func (b *Backend) ProbeFile() string { return b.unmeasured().file() }

// ProbeAnew measures peaks and bandwidth, in about a second, and forgets what was measured
// before. If ctx ends first, it does not.
func (b *Backend) ProbeAnew(ctx context.Context) machine.Device {
	if b.options.NoProbe {
		return b.Device()
	}
	m := b.measureAll(ctx)
	if ctx.Err() != nil {
		return b.Device()
	}
	b.probing.Lock()
	defer b.probing.Unlock()
	m.write(m.file())
	b.probed = &m
	return b.describe(m)
}

// Probe measures peaks and bandwidth once more, in half a second.
func (b *Backend) Probe(ctx context.Context) machine.Device {
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

// Control times arithmetic and a read of memory with the default number of workers and
// instruction set.
func (b *Backend) Control(ctx context.Context) (compute, memory time.Duration) {
	b.controlling.Lock()
	defer b.controlling.Unlock()
	if b.control == nil {
		b.control = probe.NewControl(b.options.ISA, b.options.Threads)
	}
	return b.control.Run(ctx)
}

// factors is how many operands of a product have a share of what workers keep.
const factors = 2

func (b *Backend) describe(m measurements) machine.Device {
	h := probe.Host()
	d := machine.Device{
		Key:   "cpu_" + slug(m.CPU),
		Names: []string{m.CPU},
		Kind:  machine.CPU,
		Note:  note(m.ISA, m.Threads),

		Cores: h.Cores, DevicesPerChip: 1, Parallel: m.Threads,

		Peak:                map[string]machine.Figure{},
		FastBytes:           asked(h.L2, "L2 of one core, from the processor or the operating system"),
		LastLevelCacheBytes: asked(h.L3, "last-level cache, from the processor or the operating system"),
		MemoryBytes:         asked(int(cgroup.Total()), "from the operating system"),
	}
	if m.Cores != nil { // what is kept is no measurement, and may change with the options
		c := *m.Cores
		c.Kept = passes.OwnBytes(b.ownBytes(m.Threads, c.L2), m.Threads, factors)
		d.Blocking = &c
	}
	d.FastDefaultBytes = d.FastBytes
	for dtype, v := range m.Peak {
		d.Peak[dtype] = machine.Figure{Value: v, Measured: true, At: m.At,
			Source: fmt.Sprintf("measured: multiply-adds in registers, %s, %d threads", m.ISA, m.Threads)}
	}
	if m.Bandwidth > 0 {
		d.BandwidthBytesPerSecond = machine.Figure{Value: m.Bandwidth, Measured: true, At: m.At,
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
	if kept, ok := readMeasurements(file, m); ok && !b.faster(kept) {
		return kept
	}
	if b.options.Probing != nil {
		b.options.Probing(file, makeRoom(file))
	}
	m = b.measureAll(context.Background())
	m.write(file)
	return m
}

// faster reports whether the machine is faster now than when m was measured. It measures only
// what may tell so.
func (b *Backend) faster(m measurements) bool {
	if m.ControlCompute > 0 || m.ControlMemory > 0 {
		var now measurements
		b.controlled(context.Background(), &now)
		if m.outlived(now.ControlCompute, now.ControlMemory) {
			return true
		}
	}
	const few = 8 // are enough to tell a launch from one sixteen times as long
	return m.crowded(shortestLaunch) && m.crowded(b.emptyLaunch(context.Background(), m.Threads, few))
}

// measureAll is measure, and what block shapes are ranked by, a few times if something else had the
// cores.
func (b *Backend) measureAll(ctx context.Context) measurements {
	if b.options.measured != nil {
		return b.options.measured(b.unmeasured())
	}
	m := b.measure(ctx)
	for try := 0; try < b.passes() && ctx.Err() == nil && (try == 0 || m.behind()); try++ {
		c := b.measureCores(ctx, m.Bandwidth)
		if m.Cores == nil || c != nil && c.Rates[tile.Float32].FLOPs > m.Cores.Rates[tile.Float32].FLOPs {
			m.Cores = c
		}
	}
	return m
}

// behind reports whether products, by operands in the core's own cache, reached too little of the
// peak of float32.
func (m *measurements) behind() bool {
	const usual = 0.7
	return m.Cores == nil || m.Cores.Rates[tile.Float32].FLOPs*float64(m.Threads) < usual*m.Peak[tile.Float32.String()]
}

// measuredDtypes are the dtypes of operands whose products are measured.
var measuredDtypes = [...]tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8}

// passes is how often the probes are run.
func (b *Backend) passes() int {
	if b.options.brief {
		return 1
	}
	return 3
}

// measure runs the probes some times, and a control beside each: the best figures of all count.
func (b *Backend) measure(ctx context.Context) measurements {
	m := b.unmeasured()
	stream := probe.NewStream(ctx, m.Threads)
	if stream == nil {
		return m
	}
	defer stream.Free()
	for range b.passes() {
		b.controlled(ctx, &m)
		for _, d := range measuredDtypes {
			if v := probe.PeakFLOPs(ctx, m.ISA, d.String(), m.Threads); v > m.Peak[d.String()] {
				m.Peak[d.String()] = v
			}
		}
		m.Bandwidth = max(m.Bandwidth, stream.Bandwidth(ctx, m.Threads))
	}
	if ctx.Err() == nil {
		m.At = time.Now().UTC().Truncate(time.Second)
	}
	return m
}

// controlled takes a few controls; the fastest counts.
func (b *Backend) controlled(ctx context.Context, m *measurements) {
	const few = 5
	for range few {
		compute, memory := b.Control(ctx)
		m.ControlCompute, m.ControlMemory = fastest(m.ControlCompute, compute.Seconds()), fastest(m.ControlMemory, memory.Seconds())
	}
}

func (b *Backend) unmeasured() measurements {
	if b.other != nil {
		return *b.other
	}
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

func asked(bytes int, source string) machine.Figure {
	if bytes <= 0 {
		return machine.Figure{}
	}
	return machine.Figure{Value: float64(bytes), Source: source}
}

// slug keeps letters and digits, and one underscore for what is between them.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return strings.Join(words, "_")
}
