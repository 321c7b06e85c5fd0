package tiletest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/tile"
)

// TestRandom_Variety: the same bytes make the same program, inputs fit it, and
// every operation and statement occurs in some accepted program.
func TestRandom_Variety(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	ops, kinds := map[tile.Op]bool{}, map[tile.StmtKind]bool{}
	for range 4000 / thoroughtest.OneIn(1, 4, 4) {
		data := make([]byte, 80)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		p, err := Random(data)
		again, errAgain := Random(data)
		if err != nil {
			if errAgain == nil || errAgain.Error() != err.Error() {
				t.Fatalf("refused once only: %v, %v", err, errAgain)
			}
			continue
		}
		if p.String() != again.String() {
			t.Fatalf("two programs from one:\n%s\n%s", p, again)
		}
		if p.Steps() > 5000 {
			t.Errorf("%d programs are too many to run in a fuzz test", p.Steps())
		}
		bound, err := tile.Bind([]*tile.Program{p})
		if err != nil {
			t.Fatal(err)
		}
		for i, tensor := range Inputs(p, 1) {
			if err := tensor.Matches(bound.In[i]); err != nil {
				t.Error(err)
			}
		}
		p.Walk(func(s *tile.Stmt) {
			kinds[s.Kind] = true
			if s.Value != nil {
				tile.WalkExpr(s.Value, func(e *tile.Expr) { ops[e.Op] = true })
			}
		})
	}
	for op := tile.OpLoad; op <= tile.OpConcat; op++ {
		if !ops[op] {
			t.Errorf("no accepted program has %s", op)
		}
	}
	for k := tile.Fill; k <= tile.Loop; k++ {
		if !kinds[k] {
			t.Errorf("no accepted program has %s", k)
		}
	}
}

func TestRandom_Empty(t *testing.T) {
	p, err := Random(nil)
	if err != nil || !strings.Contains(p.String(), "dot(a[...], b[...])") {
		t.Errorf("no data makes no product: %v\n%v", p, err)
	}
}
