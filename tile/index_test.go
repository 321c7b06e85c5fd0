package tile_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"matladder/tile"
)

// ids gives axes their ids by name, and tables element i the value 3i - 4.
type ids map[string]int

func (e ids) ProgramID(a *tile.Axis) int        { return e[a.Name] }
func (e ids) TableValue(_ *tile.Ref, i int) int { return 3*i - 4 }

// randomIndex returns an expression built by the folding constructors, and the
// same arithmetic on big integers, by Euclid's division.
func randomIndex(random *rand.Rand, axes []*tile.Axis, table *tile.Ref, depth int) (tile.IndexExpr, func(ids) *big.Int) {
	if depth == 0 || random.IntN(6) == 0 {
		if random.IntN(2) == 0 {
			c := random.IntN(13) - 6
			return tile.Const(c), func(ids) *big.Int { return big.NewInt(int64(c)) }
		}
		a := axes[random.IntN(len(axes))]
		return a, func(e ids) *big.Int { return big.NewInt(int64(e[a.Name])) }
	}
	x, fx := randomIndex(random, axes, table, depth-1)
	by := random.IntN(5) + 1
	switch random.IntN(5) {
	case 0:
		y, fy := randomIndex(random, axes, table, depth-1)
		return tile.Plus(x, y), func(e ids) *big.Int { return new(big.Int).Add(fx(e), fy(e)) }
	case 1:
		by -= 3
		return tile.Times(x, by), func(e ids) *big.Int { return new(big.Int).Mul(fx(e), big.NewInt(int64(by))) }
	case 2: // for a positive divisor Euclid's quotient is the floor
		return tile.FloorDiv(x, by), func(e ids) *big.Int { return new(big.Int).Div(fx(e), big.NewInt(int64(by))) }
	case 3:
		return tile.Mod(x, by), func(e ids) *big.Int { return new(big.Int).Mod(fx(e), big.NewInt(int64(by))) }
	}
	return table.At(x), func(e ids) *big.Int {
		return new(big.Int).Sub(new(big.Int).Mul(fx(e), big.NewInt(3)), big.NewInt(4))
	}
}

func TestEval_AgainstBigIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	b := tile.New("index")
	axes := []*tile.Axis{b.Axis("i", 7, tile.Parallel), b.Axis("j", 5, tile.Parallel)}
	table := b.Table("t", 9)
	for range 5000 {
		x, want := randomIndex(random, axes, table, 5)
		for range 4 {
			at := ids{"i": random.IntN(7), "j": random.IntN(5)}
			if got := tile.Eval(x, at); want(at).Cmp(big.NewInt(int64(got))) != 0 {
				t.Fatalf("%s at %v: got %d, want %s", x, at, got, want(at))
			}
		}
	}
}

func TestIndex_String(t *testing.T) {
	b := tile.New("index")
	i, j, table := b.Axis("i", 7, tile.Parallel), b.Axis("j", 5, tile.Parallel), b.Table("t", 9)
	for want, x := range map[string]tile.IndexExpr{
		"i":               tile.Plus(tile.Times(i, 1), zero),
		"0":               tile.Plus(tile.Mod(i, 1), tile.Times(j, 0)),
		"-2":              tile.FloorDiv(tile.Const(-7), 4),
		"(i*4 + (j % 3))": tile.Plus(tile.Times(i, 4), tile.Mod(j, 3)),
		"t[i // 2]":       table.At(tile.FloorDiv(i, 2)),
		"(i + 1)*3":       tile.Times(tile.Plus(i, tile.Const(1)), 3),
	} {
		if x.String() != want {
			t.Errorf("got %s, want %s", x, want)
		}
	}
	for want, c := range map[string]tile.Cond{
		"i == 0":                     i.First(),
		"j == 4":                     j.Last(),
		"i == 0 and (j > 1 or true)": tile.All(i.First(), tile.Any(tile.Test(j, tile.GT, tile.Const(1)), tile.All())),
		"not (i + 1 <= j*2)":         tile.Not(tile.Test(tile.Plus(i, tile.Const(1)), tile.LE, tile.Times(j, 2))),
	} {
		if c.String() != want {
			t.Errorf("got %s, want %s", c, want)
		}
	}
}

func TestEvalCond(t *testing.T) {
	i := &tile.Axis{Name: "i", Size: 9}
	three := tile.Const(3)
	for n := range 9 {
		at := ids{"i": n}
		neither := tile.All(tile.Test(i, tile.NE, three), tile.Not(tile.Test(i, tile.EQ, tile.Const(4))))
		if tile.EvalCond(neither, at) != (n != 3 && n != 4) {
			t.Errorf("%s at %d is wrong", neither, n)
		}
		for op, want := range map[tile.Comparison]bool{tile.LT: n < 3, tile.LE: n <= 3, tile.GT: n > 3, tile.GE: n >= 3} {
			if tile.EvalCond(tile.Any(tile.Test(i, op, three), tile.Any()), at) != want {
				t.Errorf("%d %s 3: want %v", n, op, want)
			}
		}
	}
}
