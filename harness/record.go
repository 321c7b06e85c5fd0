package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"matladder/backend"
	"matladder/harness/measure"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
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

// NewProvenance describes an execution that starts now. name and the families are the sweep's.
func NewProvenance(name string, now time.Time, families ...*problem.Family) Provenance {
	now = now.UTC()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Provenance{
		RunID:     fmt.Sprintf("%s-%s-%06d", name, now.Format("20060102T150405"), now.Nanosecond()/1000),
		StartedAt: now, Version: version() + " kernels " + fingerprint(families), Host: host,
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
	b, _ := p.on(&r.opt)
	d, m, c := b.Device(), p.Problem, r.sweep.Config
	f, sizes := m.Family(), m.Sizes()
	rec := results.Record{
		Schema: results.Schema, RunID: r.opt.Provenance.RunID, StartedAt: r.opt.Provenance.StartedAt,
		MatladderVersion: r.opt.Provenance.Version, Host: r.opt.Provenance.Host,
		Backend: b.Name(), Chip: d.Key,
		Kernel: p.Name(), Variant: p.Variant, Mode: results.Measured,
		Family: f.Name, Shape: f.Shape(sizes), Figure: results.Figure(f.Figure), Batch: f.Batch(sizes),
		Params: p.Params.String(), ISA: p.Params.ISA, Threads: p.Params.Threads, Devices: 1,
		Dist: p.Inputs, Seed: results.Some(c.Seed), Fault: r.opt.Fault,
		FLOPs: m.FLOPs(), BytesMin: m.Bytes(),
	}
	if p.Mesh != "" {
		rec.Mesh, rec.Devices = p.Mesh, p.devices()
	}
	p.choices(&rec, r.sweep.Lowering)
	for name, to := range map[string]*int{"m": &rec.M, "k": &rec.K, "n": &rec.N} {
		if i, ok := f.Index(name); ok {
			*to = sizes[i]
		}
	}
	ask(&rec, m)
	rec.Cache = c.Cache
	if rec.Duty = p.Duty; !r.sweep.Predict {
		rec.RestSeconds = c.rest().Seconds()
	}
	if p.Duty > 0 {
		rec.WindowSeconds = c.Window.Seconds()
	}
	rec.Layers = c.uses(m)
	if _, own := p.on(&r.opt); c.Pin && !own {
		rec.Pin = "cores"
	}
	if c.Together {
		var first results.Record
		ask(&first, c.beside(m))
		rec.Beside = first.Product()
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

// count fills the columns that follow from the programs alone, as far as they can be counted
// without running. FLOPs and the bytes at least are the problem's, however a program goes
// about it; what this one computes and moves stands beside them.
func count(r *results.Record, programs []*tile.Program) {
	if c, err := model.Count(programs); err == nil && len(programs) > 0 {
		r.BytesMoved, r.FastBytes, r.GridSteps, r.FLOPsComputed = c.BytesMoved, c.FastBytes, c.GridSteps, c.FLOPs
	}
}

// ask writes what is asked of a problem beside its sizes.
func ask(row *results.Record, p problem.Problem) {
	a := p.Asked()
	for _, d := range []struct {
		to    *string
		dtype tile.Dtype
	}{{&row.DtypeA, a.A}, {&row.DtypeB, a.B}, {&row.DtypeAcc, a.Acc}, {&row.DtypeOut, a.Out}} {
		if d.dtype != tile.InvalidDtype {
			*d.to = d.dtype.String()
		}
	}
	row.Precision, row.Quant, row.Activation, row.Options = a.Precision.String(), string(a.Quant), string(a.Epilogue), a.Options
}

// fingerprint hashes the programs that the kernels of families build for a few problems,
// so that a changed kernel is a different version even where none was tagged.
func fingerprint(families []*problem.Family) string {
	h := sha256.New()
	for _, f := range families {
		hashPrograms(h, f)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func hashPrograms(h io.Writer, f *problem.Family) {
	for _, sizes := range []problem.Sizes{ragged(f), f.Equal(1 << 12)} {
		for _, words := range slices.Concat(f.Dtypes, f.Examples) {
			asked, err := f.Parse(words)
			if err != nil {
				fmt.Fprintln(h, words, err)
				continue
			}
			p := f.Make(sizes, asked)
			for _, k := range kernels.Ladder(f) {
				if k.Supports(p) != nil {
					continue
				}
				for _, b := range k.Candidates(p, problem.Machine{Parallel: 2}) {
					for _, v := range k.Variants(p) {
						programs, err := k.Build(p, v, b)
						fmt.Fprintln(h, programs, err)
					}
				}
			}
		}
	}
}

// ragged are sizes of a family that blocks do not divide.
func ragged(f *problem.Family) problem.Sizes {
	s := f.Equal(300)
	for i := range f.Required(s) {
		s[i] -= []int{0, 100, 50}[i%3]
	}
	return s
}

// classify says what an error makes of a point.
func classify(err error) results.Status {
	switch {
	case errors.As(err, new(*backend.TooBigError)):
		return results.TooBig
	case errors.Is(err, backend.ErrUnsupported):
		return results.Unsupported
	case errors.Is(err, context.DeadlineExceeded):
		return results.Timeout
	case errors.As(err, new(*wrongError)), errors.Is(err, backend.ErrOutside):
		return results.Wrong
	case errors.As(err, new(*measure.PanicError)), errors.As(err, new(*backend.CrashError)):
		return results.Crashed
	}
	return results.Failed
}

// Bad reports whether a status makes an execution fail: something went wrong,
// where too_big, unsupported and skipped are answers.
func Bad(s results.Status) bool {
	return !slices.Contains([]results.Status{results.OK, results.TooBig, results.Unsupported, results.Skipped}, s)
}

// pieceOfRows is how many rows lie in one piece of memory, about a megabyte.
const pieceOfRows = 1024

// A rowList is the rows of a file, in order. They lie in pieces of one size, to save memory:
// one slice of all would have room for up to a quarter more rows than it holds, and would
// exist twice whenever it grows.
type rowList struct {
	pieces [][]results.Record
	length int
}

func (l *rowList) add(rows []results.Record) {
	l.length += len(rows)
	for len(rows) > 0 {
		last := len(l.pieces) - 1
		if last < 0 || len(l.pieces[last]) == cap(l.pieces[last]) {
			l.pieces = append(l.pieces, make([]results.Record, 0, pieceOfRows))
			last++
		}
		p := l.pieces[last]
		n := min(len(rows), cap(p)-len(p))
		l.pieces[last], rows = append(p, rows[:n]...), rows[n:]
	}
}

// all returns every row in one slice, which is the only piece from then on.
func (l *rowList) all() []results.Record {
	if len(l.pieces) > 1 {
		l.pieces = [][]results.Record{slices.Concat(l.pieces...)}
	}
	if len(l.pieces) == 0 {
		return nil
	}
	return l.pieces[0]
}

// Rebuild makes the problem and the programs of a point again. The error says
// what of the row no kernel here understands.
func Rebuild(r *results.Record) (problem.Problem, []*tile.Program, error) {
	f, err := problem.Find(r.FamilyName())
	if err != nil {
		return nil, nil, err
	}
	k, err := kernels.FindIn(f, r.Kernel)
	if err != nil {
		return nil, nil, err
	}
	sizes, err := f.ParseShape(r.ShapeName())
	if err != nil {
		return nil, nil, err
	}
	asked := problem.Asked{Quant: problem.Quant(r.Quant), Options: r.Options}
	for _, d := range []struct {
		to   *tile.Dtype
		name string
	}{{&asked.A, r.DtypeA}, {&asked.B, r.DtypeB}, {&asked.Acc, r.DtypeAcc}, {&asked.Out, r.DtypeOut}} {
		if d.name == "" && d.to != &asked.A {
			continue
		}
		if *d.to, err = tile.ParseDtype(d.name); err != nil {
			return nil, nil, err
		}
	}
	if r.Precision == machine.PrecisionHighest {
		asked.Precision = tile.Highest
	}
	if asked.Epilogue, err = problem.ParseEpilogue(r.Activation); err != nil {
		return nil, nil, err
	}
	if asked, err = f.Complete(asked); err != nil {
		return nil, nil, err
	}
	p := f.Make(sizes, asked)
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	if err := k.Supports(p); err != nil {
		return nil, nil, err
	}
	for i, side := range []int{r.BM, r.BK, r.BN} {
		if i < len(p.Sides()) && side < 1 {
			return nil, nil, errors.New("the row has no block shape")
		}
	}
	programs, err := k.Build(p, r.Variant, tile.Blocks{M: r.BM, K: r.BK, N: r.BN})
	return p, programs, err
}
