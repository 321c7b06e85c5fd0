package triton

import (
	"cmp"
	"math"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
	"matladder/tile/groups"
)

// Memory is what one program takes of a multiprocessor, by a model: the compiler
// knows better, but may take minutes to find out.
type Memory struct {
	// Registers counts scratch, which lives there, and the largest block that a
	// statement computes beside it.
	Registers int64
	// Stage counts the operands of products that one step of a loop brings into
	// shared memory; each stage has room of its own.
	Stage int64
}

// memoryOf counts what one program takes.
func memoryOf(p *tile.Program, scaled map[*tile.Expr]*groups.Product) Memory {
	k := &kernel{program: p, least: leastOf(p)}
	m := Memory{Registers: each.Sum(p.RefsOf(tile.Scratch), func(r *tile.Ref) int64 { return bytesOf(k.scratchType(r)) })}
	var beside int64
	p.Walk(func(s *tile.Stmt) {
		if s.Value == nil {
			return
		}
		beside = max(beside, k.beside(s))
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if e.Op == tile.OpDot {
				n := k.operandBytes(e.Args[0]) + k.operandBytes(e.Args[1])
				if scaled[e] != nil && turns(p, e.Args[0].Ref, e.Args[1].Ref) { // two in a byte
					n /= 2
				}
				m.Stage += n
			}
		})
	})
	m.Registers += beside
	return m
}

// beside is what a statement computes in registers besides what scratch holds.
func (k *kernel) beside(s *tile.Stmt) int64 {
	block := bytesOf(shaped{Elem: mlir.Working(s.Ref.Dtype), Dims: k.Physical(s.Ref.Shape())})
	n := int64(0)
	switch {
	case s.Kind == tile.Fill:
		return 0
	case s.Ref.Kind == tile.Out && s.Kind == tile.Accumulate:
		n = block + bytesOf(shaped{Elem: storage[s.Ref.Dtype], Dims: k.Physical(s.Ref.Shape())}) // what is added, and what is there
	case s.Kind == tile.Store && s.Value.Op == tile.OpLoad, s.Kind == tile.Store && s.Value.Op == tile.OpCast && s.Value.Args[0].Op == tile.OpLoad:
		return 0
	case s.Kind == tile.Accumulate && s.Value.Op == tile.OpDot:
	default:
		n = block
	}
	tile.WalkExpr(s.Value, func(e *tile.Expr) {
		if e.Op == tile.OpDot {
			for _, x := range e.Args {
				if x.Op != tile.OpLoad && x.Op != tile.OpSlice && shownOf(x) == nil { // what is computed passes through registers
					n = max(n, block) + k.operandBytes(x)
				}
			}
		} else if e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum {
			n = max(n, bytesOf(shaped{Elem: mlir.Working(e.Dtype), Dims: k.Physical(e.Args[0].Shape)}))
		}
	})
	return n
}

// operandBytes is what an operand of a product takes in shared memory.
func (k *kernel) operandBytes(e *tile.Expr) int64 {
	dims := k.Physical(e.Shape)
	return bytesOf(shaped{Elem: storage[e.Dtype], Dims: []int{max(dims[0], k.least), max(dims[1], k.least)}})
}

func bytesOf(t shaped) int64 {
	width := map[string]int64{"f32": 4, "i32": 4, "bf16": 2, "f16": 2}[t.Elem]
	return max(width, 1) * tile.Elements(t.Dims)
}

const (
	threadRegisters = 255 // at most, of 4 bytes
	addressing      = 32  // registers of a thread that hold no elements
	threadBytes     = 512 // of elements of a thread, beyond which there are better more threads
	defaultStages   = 4
	defaultGroup    = 8
	leastWarps      = 4 // a matrix unit of Hopper takes what four warps have
	mostWarps       = 16
)

func (t Target) warpThreads() int {
	if t.wide {
		return 64
	}
	return 32
}

// registers is what warps hold of elements.
func (t Target) registers(warps int) int64 {
	if t.RegisterBytes == 0 {
		return math.MaxInt64
	}
	threads, most := int64(warps*t.warpThreads()), int64(threadRegisters)
	if t.wide {
		most = 512
	}
	each := min(most, t.RegisterBytes/4/threads) - addressing
	return threads * each * 4
}

// readsOutput reports whether a program reads what it has stored to an output.
func readsOutput(p *tile.Program) bool {
	return p.FindExpr(func(s *tile.Stmt, e *tile.Expr) bool {
		return s.Kind == tile.Accumulate && s.Ref.Kind == tile.Out || e.Op == tile.OpLoad && e.Ref.Kind == tile.Out
	}) != nil
}

// isStrict reports whether a program has products that no matrix unit does.
func isStrict(p *tile.Program) bool {
	return p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool { return e.Op == tile.OpDot && strict(e) }) != nil
}

// strict reports whether a product is of float32 as it is.
func strict(e *tile.Expr) bool { return e.Args[0].Dtype == tile.Float32 && e.Precision == tile.Highest }

// choose completes parameters and refuses what cannot fit.
func (t Target) choose(p *tile.Program, scaled map[*tile.Expr]*groups.Product, params Params) (Params, Memory, error) {
	m := memoryOf(p, scaled)
	if params.Warps == 0 {
		params.Warps = leastWarps
		each := int64(threadBytes * t.warpThreads())
		if isStrict(p) && !t.float32s { // rows and columns are in registers too
			each /= 2
		}
		for params.Warps < mostWarps && m.Registers > each*int64(params.Warps) && t.registers(2*params.Warps) > t.registers(params.Warps) {
			params.Warps *= 2
		}
	}
	if limit := t.registers(params.Warps); m.Registers > limit {
		return params, m, t.tooBig(p, "registers", m.Registers, limit)
	}
	if !t.readsInStep && readsOutput(p) {
		params.Stages = 1
	}
	shared := func(stages int) int64 {
		if t.wide && stages == 1 { // operands one after the other
			return m.Stage / 2
		}
		return m.Stage * int64(max(stages-t.ahead, 1))
	}
	if need := shared(max(params.Stages, 1)); t.SharedBytes > 0 && need > t.SharedBytes {
		return params, m, t.tooBig(p, "shared memory", need, t.SharedBytes)
	}
	if params.Stages == 0 {
		params.Stages = cmp.Or(t.stages, defaultStages)
		for t.SharedBytes > 0 && shared(params.Stages) > t.SharedBytes {
			params.Stages--
		}
	}
	params.Group = cmp.Or(params.Group, defaultGroup)
	return params, m, nil
}
