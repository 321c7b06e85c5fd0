// Package doublingtest shows that commands know no problem family by name: it runs a command's
// test again, in a child process that has registered one more family and a kernel of it.
package doublingtest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"matladder/check"
	"matladder/internal/subprocesstest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// variable is set in the environment of child processes, which have the family.
const variable = "MATLADDER_TEST_MADEUP"

// Family is the name of the family.
const Family = "doubling"

// double is o = 2·x.
type double struct {
	Items, Parts int
	X            tile.Dtype
}

func (double) Family() *problem.Family { return family }
func (p double) Sizes() problem.Sizes  { return problem.Sizes{p.Items, p.Parts} }
func (p double) Asked() problem.Asked  { return problem.Asked{A: p.X, Out: p.X} }
func (p double) Sides() []problem.Side {
	return []problem.Side{{Name: "items", Size: p.Items, Dtype: p.X}}
}
func (p double) FLOPs() int64           { return int64(p.Items) * int64(p.Parts) }
func (p double) Bytes() int64           { return problem.BytesOf(p) }
func (p double) String() string         { return fmt.Sprintf("%d items of %d %s", p.Items, p.Parts, p.X) }
func (p double) Validate() error        { return nil }
func (p double) array() tile.ArrayShape { return tile.Array(p.Items, p.Parts) }

func (p double) Operands() []problem.Operand {
	return []problem.Operand{{Name: "x", Dtype: p.X, Shape: p.array()}, {Name: "o", Dtype: p.X, Shape: p.array(), Out: true}}
}

var family *problem.Family

var kernel = problem.Rung[double]{
	Number: 1, Name: "v1_twice",
	Supports: double.Validate, Blocks: blocks, Build: build,
}

func blocks(p double, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 32})
}

func build(p double, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_twice")
	i := t.Axis("i", tile.Ceil(p.Items, s.M), tile.Parallel)
	x := t.In("x", p.X, p.array(), tile.Block(s.M, p.Parts).At(i, tile.Const(0)))
	o := t.Out("o", p.X, p.array(), tile.Block(s.M, p.Parts).At(i, tile.Const(0)))
	t.Store(o, tile.Add(x, x))
	return t.Programs()
}

// Hook registers the family if Run started this process. Call it in TestMain.
func Hook() {
	if os.Getenv(variable) == "" {
		return
	}
	same := func(a problem.Asked) (problem.Asked, error) { a.Out = a.A; return a, nil }
	family = &problem.Family{
		Name: Family, Title: "doubled numbers", Figure: problem.PerBytes, Dtypes: []string{"float32"}, Sample: problem.Sizes{150, 190},
		Sizes: []problem.Size{{Name: "items"}, {Name: "parts"}},
		Parse: func(s string) (problem.Asked, error) {
			a, err := problem.ParseDtypes(s)
			a.Out = a.A
			return a, err
		},
		Complete: same,
		Make:     func(s problem.Sizes, a problem.Asked) problem.Problem { return double{s[0], s[1], a.A} },
	}
	problem.Register(family)
	kernels.Register(kernels.Of(kernel))
	check.Register(family, check.Family{
		Fill: check.FillPlain,
		Reference: func(_ context.Context, p problem.Problem, _ map[string]tile.Tensor, _ uint64, _ string) (check.Verifier, error) {
			d := p.(double)
			return check.RowByRow(d.Items, d.Parts, d.X, func(in map[string]tile.Tensor, i int, want, bound, _ []float64) {
				for j := range want {
					want[j] = 2 * in["x"].At(i*d.Parts+j)
					bound[j] = 1e-30
				}
			}), nil
		},
	})
}

// Run runs f in a process of its own that has the family.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	subprocesstest.Run(t, variable, f)
}
