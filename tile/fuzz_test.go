package tile_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// FuzzVerify makes a program of the first bytes and damages it as the others
// say, the way a program put together by hand could be. Nothing may panic, and
// what Verify accepts must print and be analysed.
func FuzzVerify(f *testing.F) {
	random := rand.New(rand.NewPCG(10, 11))
	f.Add([]byte{}, []byte{})
	for n := range 60 {
		program, damage := make([]byte, 70), make([]byte, n%4*3)
		for i := range program {
			program[i] = byte(random.Uint32())
		}
		for i := range damage {
			damage[i] = byte(random.Uint32())
		}
		f.Add(program, damage)
	}
	f.Fuzz(func(t *testing.T, program, damage []byte) {
		if len(program) > 200 || len(damage) > 30 {
			t.Skip("longer data makes no other programs")
		}
		verifyAndRead(t, program, damage)
	})
}

// TestVerify_Random is the fuzz test over more data than its seeds; of the
// undamaged programs, a fair share is accepted.
func TestVerify_Random(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 13))
	accepted := 0
	n := 6000 / thoroughtest.OneIn(1, 4, 4)
	for i := range n {
		program, damage := make([]byte, 70), make([]byte, 3*(i%3))
		for _, data := range [][]byte{program, damage} {
			for j := range data {
				data[j] = byte(random.Uint32())
			}
		}
		if verifyAndRead(t, program, damage) {
			accepted++
		}
	}
	if accepted < n/5 || accepted > n*4/5 {
		t.Errorf("%d of %d programs are accepted: the generator is too wild or too tame", accepted, n)
	}
}

func verifyAndRead(t *testing.T, program, damage []byte) bool {
	p, err := tiletest.Random(program)
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			if !strings.HasPrefix(line, "tiletest/") {
				t.Errorf("a mistake without the generator's line: %s", line)
			}
		}
		return false
	}
	for ; len(damage) >= 3; damage = damage[3:] {
		harm(p, int(damage[0]), int(damage[1]), int(damage[2]))
	}
	if p.Verify() != nil {
		return false
	}
	if text := p.String(); strings.Count(text, "\n") < 2+len(p.Refs) {
		t.Errorf("prints too little: %q", text)
	}
	info := p.PartialTiles()
	p.Walk(func(s *tile.Stmt) {
		if s.Value == nil {
			return
		}
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if len(info.Of(e)) != len(e.Shape) {
				t.Errorf("%s: edges for %d of %d dimensions", e.Op, len(info.Of(e)), len(e.Shape))
			}
		})
	})
	return true
}

// harm changes one field of p; which, where and to what are the three numbers.
func harm(p *tile.Program, which, where, what int) {
	size := []int{-1, 0, 1, 2, 3, 7, 1 << 20, math.MaxInt}[what%8]
	var axis *tile.Axis
	if len(p.Grid) > 0 {
		axis = p.Grid[where%len(p.Grid)]
	}
	ref := p.Refs[where%len(p.Refs)]
	if ref == nil {
		return // an earlier harm's
	}
	stmts, exprs := everything(p)
	var stmt *tile.Stmt
	if len(stmts) > 0 {
		stmt = stmts[where%len(stmts)]
	}
	expr := &tile.Expr{}
	if len(exprs) > 0 {
		expr = exprs[where%len(exprs)]
	}
	indices := []tile.IndexExpr{nil, tile.Const(size), &tile.Axis{Name: "new", Size: 3}, tile.Scaled{Op: tile.Quotient, X: tile.Const(1), By: size},
		tile.Scaled{Op: tile.Remainder, X: tile.Const(1), By: size}, tile.Lookup{}, tile.Lookup{Table: ref, At: tile.Const(size)}, tile.Joined{}, tile.Scaled{Op: tile.Product, By: size}}
	if axis != nil {
		indices = append(indices, axis, tile.Scaled{Op: tile.Product, X: axis, By: size}, tile.Joined{X: axis, Y: axis}, tile.Scaled{Op: tile.Remainder, X: axis, By: size})
	}
	index := indices[what%len(indices)]
	switch which % 25 {
	case 0:
		if axis != nil {
			axis.Size = size
		}
	case 1:
		p.Grid = append(p.Grid, []*tile.Axis{nil, {Name: "h", Size: size}, axis}[what%3])
	case 2:
		if axis != nil {
			axis.Semantics = 1 - axis.Semantics
		}
	case 3:
		p.Refs = append(p.Refs, []*tile.Ref{nil, {}, ref}[what%3])
	case 4:
		ref.Array = []([]int){nil, {size}, append([]int{size}, ref.Array...)}[what%3]
	case 5:
		ref.Block = []([]int){nil, {size}, append([]int{size}, ref.Block...)}[what%3]
	case 6:
		if len(ref.Array) > 0 {
			ref.Array[what%len(ref.Array)] = size
		}
	case 7:
		if len(ref.Block) > 0 {
			ref.Block[what%len(ref.Block)] = size
		}
	case 8:
		if len(ref.Index) > 0 {
			ref.Index[where%len(ref.Index)] = index
		}
	case 9:
		ref.Kind = tile.RefKind(what % 6)
	case 10:
		ref.Dtype = tile.Dtype(what % 12)
	case 11:
		p.Body = append(p.Body, []*tile.Stmt{nil, {}, stmt, {Kind: tile.Loop}, {Kind: tile.When}, {Kind: tile.StmtKind(what)}}[what%6])
	case 12:
		if stmt != nil {
			stmt.Kind = tile.StmtKind(what % 7)
		}
	case 13:
		if stmt != nil {
			stmt.Ref = []*tile.Ref{nil, {}, ref}[what%3]
		}
	case 14:
		if stmt != nil {
			stmt.Value = []*tile.Expr{nil, {}, expr}[what%3]
		}
	case 15:
		if stmt != nil {
			stmt.Cond = []tile.Cond{nil, tile.NotCond{}, tile.AllCond{nil}, tile.TestCond{Op: 99}, tile.Test(index, tile.EQ, index), tile.Any()}[what%6]
		}
	case 16:
		if stmt != nil {
			stmt.Axis = []*tile.Axis{nil, {Name: "l", Size: size}, axis}[what%3]
		}
	case 17:
		expr.Op = tile.Op(what)
	case 18:
		expr.Args = []([]*tile.Expr){nil, {nil}, append(expr.Args, &tile.Expr{})}[what%3]
	case 19:
		expr.Dtype = tile.Dtype(what % 12)
	case 20:
		expr.Shape = []([]int){nil, {size}, append([]int{size}, expr.Shape...)}[what%3]
	case 21:
		expr.Ref, expr.Dim = []*tile.Ref{nil, {}, ref}[what%3], what%5-1
	case 22:
		expr.Index, expr.Value, expr.Cmp = index, math.Inf(what%3-1), tile.Comparison(what%8)
	case 23:
		expr.TransA, expr.TransB = what&1 != 0, what&2 != 0
	case 24:
		ref.Steps = []([]int){nil, {size}, append([]int{size}, ref.Block...), make([]int, len(ref.Array))}[what%4]
		for d := range ref.Steps {
			ref.Steps[d] = size
		}
	}
}

// everything lists the statements and expressions of p, as far as they exist.
func everything(p *tile.Program) (stmts []*tile.Stmt, exprs []*tile.Expr) {
	var tree func(e *tile.Expr)
	tree = func(e *tile.Expr) {
		if e != nil && len(exprs) < 300 {
			exprs = append(exprs, e)
			for _, a := range e.Args {
				tree(a)
			}
		}
	}
	var list func(body []*tile.Stmt)
	list = func(body []*tile.Stmt) {
		for _, s := range body {
			if s != nil {
				stmts = append(stmts, s)
				tree(s.Value)
				list(s.Body)
			}
		}
	}
	list(p.Body)
	return stmts, exprs
}
