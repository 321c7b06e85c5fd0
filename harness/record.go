package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// Provenance is what all rows of one execution share.
type Provenance struct {
	RunID     string // names the execution, and its file
	StartedAt time.Time
	Version   string // of matladder and of its kernels: rows of two versions are different points
	Host      string
}

// NewProvenance describes an execution that starts now. name is the sweep's.
func NewProvenance(name string, now time.Time) Provenance {
	now = now.UTC()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Provenance{
		RunID:     fmt.Sprintf("%s-%s-%06d", name, now.Format("20060102T150405"), now.Nanosecond()/1000),
		StartedAt: now, Version: version() + " kernels " + fingerprint(), Host: host,
	}
}

// version is the module's, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+dirty"
			}
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision[:min(12, len(revision))] + modified
}

// record returns what all rows of a point share.
func (r *run) record(p Point, programs []*tile.Program) results.Record {
	b := r.backend(p)
	if p.Kernel != nil && r.sweep.Lowering != "" {
		p.Variant = strings.TrimSpace(p.Variant + " " + r.sweep.Lowering)
	}
	d, m, c := b.Device(), p.Problem, r.sweep.Config
	rec := results.Record{
		Schema: results.Schema, RunID: r.opt.Provenance.RunID, StartedAt: r.opt.Provenance.StartedAt,
		MatladderVersion: r.opt.Provenance.Version, Host: r.opt.Provenance.Host,
		Backend: b.Name(), Chip: d.Key,
		Kernel: p.KernelName(), Variant: p.Variant, Mode: results.Measured,
		Batch: m.Batch, M: m.M, K: m.K, N: m.N,
		DtypeA: m.A.String(), DtypeB: m.B.String(), DtypeAcc: m.Acc.String(), DtypeOut: m.Out.String(),
		Precision: m.Precision.String(), Quant: string(m.Quant), Activation: string(m.Epilogue()),
		BM: p.Blocks.M, BK: p.Blocks.K, BN: p.Blocks.N, BlockSource: p.BlockSource,
		Params: p.Params.String(), ISA: p.Params.ISA, Threads: p.Params.Threads, Devices: 1,
		Dist: c.Dist, Seed: results.Some(c.Seed), Fault: r.opt.Fault,
		FLOPs: m.FLOPs(), BytesMin: m.Bytes(),
	}
	if c.Together {
		first := c.beside(m)
		rec.Beside = (&results.Record{
			DtypeA: first.A.String(), DtypeB: first.B.String(), DtypeOut: first.Out.String(),
			Precision: first.Precision.String(), Quant: string(first.Quant), Activation: string(first.Epilogue()),
		}).Product()
	}
	if len(d.Names) > 0 {
		rec.Device = d.Names[0]
	}
	if plugged, ok := b.(backend.Plugged); ok {
		rec.Plugin, rec.PluginVersion = plugged.Plugin()
	}
	count(&rec, programs)
	r.figures(&rec, p)
	if r.sweep.Predict {
		rec.Mode, rec.Method, rec.Launches = results.Predicted, results.AOT, 1
	}
	return rec
}

// fingerprint hashes the programs that the kernels build for a few problems, so
// that a changed kernel is a different version even where none was tagged.
func fingerprint() string {
	h := sha256.New()
	for _, s := range []Shape{{300, 200, 250}, {1 << 12, 1 << 12, 1 << 12}} {
		for _, o := range []Operands{
			plainOperands(tile.Float32), plainOperands(tile.BFloat16), plainOperands(tile.Int8),
			{A: tile.Int8, B: tile.Int8, Out: tile.BFloat16, Quant: problem.PerTensor},
			{A: tile.Int8, B: tile.Int8, Out: tile.BFloat16, Quant: "per_channel+token+zero_a+zero_b", Epilogue: "bias+gelu"},
			{A: tile.BFloat16, B: tile.Int4, Out: tile.BFloat16, Quant: "per_block128"},
			{A: tile.BFloat16, B: tile.Int8, Out: tile.BFloat16, Quant: "per_channel+dynamic_tensor"},
			{A: tile.BFloat16, B: tile.Int8, Out: tile.BFloat16, Quant: "per_channel+dynamic_token"},
		} {
			p := o.Problem(s, tile.Default)
			for _, k := range kernels.All {
				if k.Supports(p) != nil {
					continue
				}
				for _, b := range k.Candidates(p, tile.Machine{Parallel: 2}) {
					for _, v := range k.Variants(p) {
						programs, err := k.Build(p, v, b)
						fmt.Fprintln(h, programs, err)
					}
				}
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
