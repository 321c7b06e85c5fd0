package mosaic

import (
	"matladder/internal/known"
	"matladder/tile"
)

// Target is what a generation's compiler has and lacks. Figures are those of
// libtpu 0.0.42.1 and 0.0.51, read from its errors.
type Target struct {
	Name             string // v4, v5e, v5p, v6e, v7x
	VMEMBytes        int64  // of one core
	DefaultVMEMBytes int64  // what a kernel may take unless it asks for more

	narrow bool // multiplies int8, int4 and float8
	keeps  bool // small arrays come to stay in VMEM, so that a kernel needs no window of them
}

const mebibyte = 1 << 20

var targets = []Target{
	{Name: "v4", VMEMBytes: 16 * mebibyte, DefaultVMEMBytes: 16 * mebibyte},
	{Name: "v5e", VMEMBytes: 128 * mebibyte, DefaultVMEMBytes: 16 * mebibyte, narrow: true},
	{Name: "v5p", VMEMBytes: 64 * mebibyte, DefaultVMEMBytes: 16 * mebibyte, narrow: true},
	{Name: "v6e", VMEMBytes: 128 * mebibyte, DefaultVMEMBytes: 32 * mebibyte, narrow: true},
	{Name: "v7x", VMEMBytes: 64 * mebibyte, DefaultVMEMBytes: 32 * mebibyte, narrow: true, keeps: true},
}

// FindTarget returns the generation of that name.
func FindTarget(name string) (Target, error) {
	return known.Find("TPU generation", name, targets, func(t Target) string { return t.Name })
}

// Check returns why a generation cannot run programs that Lower takes, or nil:
// an *UnsupportedError for a block that breaks the tiling of memory or a product
// that the matrix units lack, a *TooBigError for what cannot fit in o.VMEMBytes
// (0 for the compiler's default). A program that passes may still need more than
// its blocks and scratch, which only the compiler tells.
func (t Target) Check(programs []*tile.Program, o Options) error {
	limit := o.VMEMBytes
	if limit <= 0 {
		limit = t.DefaultVMEMBytes
	}
	limit = min(limit, t.VMEMBytes)
	ahead := ""
	if bound, err := tile.Bind(programs); err == nil && o.Prefetched != "" {
		for _, r := range bound.In {
			if r.Name == o.Prefetched && r.ArrayBytes() <= t.VMEMBytes-limit {
				ahead = o.Prefetched
			}
		}
	}
	for _, p := range programs {
		p = p.Pipelined()
		if err := checkTiling(p); err != nil {
			return err
		}
		if err := checkCopies(p); err != nil {
			return err
		}
		if err := t.checkProducts(p); err != nil {
			return err
		}
		if err := t.checkVMEM(p, limit, ahead); err != nil {
			return err
		}
	}
	return nil
}

// checkProducts refuses what the matrix units do not multiply.
func (t Target) checkProducts(p *tile.Program) (err error) {
	if t.narrow {
		return nil
	}
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpDot && e.Args[0].Dtype.Bits() <= 8 && !isCode(e.Args[0].Dtype) && !isCode(e.Args[1].Dtype) && err == nil {
			err = unsupported(e.Pos, p, "dot", "", "%s does not multiply %s by %s", t.Name, e.Args[0].Dtype, e.Args[1].Dtype)
		}
	})
	return err
}
