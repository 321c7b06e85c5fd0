package mosaic

import (
	"fmt"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Options change what the compiler is told, never what a program means.
type Options struct {
	// VMEMBytes is how much VMEM the kernels may take; 0 leaves it to the compiler.
	VMEMBytes int64
	// Prefetched names the operand that XLA may bring to VMEM behind the launch before: the largest,
	// or one of equals, of which XLA takes the first that a kernel names. "" is none. The others
	// stay in main memory, from where their blocks come: XLA may else copy them to VMEM as well,
	// and the launch would wait for that. What Verify has proved of blocks is then not checked
	// again at run time, as it is not for XLA's own products.
	Prefetched string
	// Pieces is how much of k a product of int8 takes at a time, 0 for all; that of a large sum
	// takes all. On matrix units of 128 libtpu's schedules of pieces of 128 take fewer cycles,
	// 511 and not 594 of blocks of 512×512×256 on v5p: XLA's own product there, of two halves
	// of k, takes 520. Of large sums that are ended in a region of their own a step takes up to
	// 4 % longer, on wider units up to twice as long.
	Pieces int
}

// Launch is what one launch runs: kernels, in order.
type Launch struct {
	mlir.Launch[Kernel]
	Mesh []*tile.Axis // of devices that all run it; In and Out are those of each
}

// Kernel is one program as Mosaic text.
type Kernel struct {
	Name string
	Body string // the module

	bounds            []tile.Lookup // how many programs run along the axes of which a table says so
	operands, results []*tile.Ref
	mesh              []*tile.Axis
	communicates      bool // with other devices
	proven            bool // that copies and blocks stay inside of arrays: no table says where they are
	barrier           bool
	stays             map[string]bool // operands that are to stay in main memory, by name
	options           Options
}

// refuse says which programs have no Mosaic text: those with blocks that overlap
// (tile.BlockSpec.Every), and float16. Index maps are written as functions that number blocks side by side
// (transforms, in kernel.go), and Mosaic's pipeline writes whole blocks back. To lower such
// blocks is to copy them by the kernel itself, from the tile of memory that each begins in.
func refuse(p *tile.Program) error {
	for _, r := range p.Refs {
		if r.Overlap() {
			return unsupported(r.Pos, p, "block", r.Name,
				"every %v elements: the pipeline counts blocks side by side, as memory is tiled, and writes whole ones back", r.Steps)
		}
		if r.Dtype == tile.Float16 {
			return unsupported(r.Pos, p, "block", r.Name, "float16: a TPU has none, use bfloat16")
		}
	}
	if e := p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool { return e.Dtype == tile.Float16 }); e != nil {
		return unsupported(e.Pos, p, e.Op.String(), "", "float16: a TPU has none, use bfloat16")
	}
	return nil
}

// Lower writes programs that run in order in one launch. It is an error if one
// does not verify; an *UnsupportedError if one has no Mosaic text.
func Lower(programs []*tile.Program, opts Options) (*Launch, error) {
	bound, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	l := &Launch{}
	l.In, l.Out = bound.In, bound.Out
	stays := map[string]bool{}
	for _, r := range bound.In {
		stays[r.Name] = opts.Prefetched != "" && r.Kind == tile.In && r.Name != opts.Prefetched
	}
	for _, p := range programs {
		if err := p.Verify(); err != nil {
			return nil, err
		}
		if err := refuse(p); err != nil {
			return nil, err
		}
		p = first(p.Pipelined(), opts.Prefetched)
		body, err := writeKernel(p, opts.Pieces)
		if err != nil {
			return nil, err
		}
		k := Kernel{Name: mlir.Symbol(p.Name), Body: body, options: opts, stays: stays}
		k.operands = append(p.RefsOf(tile.Table), p.RefsOf(tile.In)...)
		k.results = results(p)
		k.mesh = p.Mesh
		p.Walk(func(s *tile.Stmt) {
			k.proven = k.proven || s.Copy != nil && len(p.RefsOf(tile.Table)) == 0
			k.communicates = k.communicates || s.Signal != nil || s.Copy != nil && s.Copy.Remote()
		})
		k.proven = k.proven || opts.Prefetched != "" && len(p.RefsOf(tile.Table)) == 0
		for _, s := range p.Semaphores {
			k.barrier = k.barrier || s.Kind == tile.CountsArrival
		}
		l.Mesh = p.Mesh
		for _, a := range p.Grid {
			if a.Bound != nil {
				k.bounds = append(k.bounds, a.Bound.(tile.Lookup))
			}
		}
		l.Kernels = append(l.Kernels, k)
		l.Name = k.Name
	}
	return l, nil
}

// first is p with the input of a name before its other inputs.
func first(p *tile.Program, name string) *tile.Program {
	to := slices.IndexFunc(p.Refs, func(r *tile.Ref) bool { return r.Kind == tile.In })
	from := slices.IndexFunc(p.Refs, func(r *tile.Ref) bool { return r.Kind == tile.In && r.Name == name })
	if from <= to {
		return p
	}
	q := *p
	q.Refs = slices.Insert(slices.Delete(slices.Clone(p.Refs), from, from+1), to, p.Refs[from])
	return &q
}

const maker = "mosaic"

// UnsupportedError is the answer to a program that has no Mosaic text, or none
// that a generation's compiler takes: Pos, Program, Op, Ref and Reason say what and why.
type UnsupportedError = mlir.UnsupportedError

func unsupported(pos tile.Pos, p *tile.Program, op, ref, format string, args ...any) error {
	return &UnsupportedError{Maker: maker, Pos: pos, Program: p.Name, Op: op, Ref: ref, Reason: fmt.Sprintf(format, args...)}
}

// TooBigError is the answer to a program whose blocks and scratch do not fit a core's VMEM.
type TooBigError = mlir.TooBigError

func (t Target) tooBig(p *tile.Program, needed, limit int64) error {
	mebi := func(bytes int64) float64 { return float64(bytes) / (1 << 20) }
	return &TooBigError{Program: p.Name, What: "VMEM", Needed: needed, Limit: limit, Text: fmt.Sprintf("mosaic: %s: needs %.2f MiB of VMEM for its blocks and scratch, %s has %.2f MiB",
		p.Name, mebi(needed), t.Name, mebi(limit))}
}
