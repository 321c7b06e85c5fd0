package interp_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// TestPipelined: a program that brings its buffered blocks itself means what it meant, with
// copies as early and as late as they may be, and is one that Verify accepts.
func TestPipelined(t *testing.T) {
	const m, k, n = 12, 8, 12
	for buffers := range 5 {
		for _, semantics := range []tile.Semantics{tile.Parallel, tile.Arbitrary} {
			for name, group := range map[string]int{"plain": 1, "two columns share a block": 2} {
				t.Run(fmt.Sprintf("%d/%s/%s", buffers, semantics, name), func(t *testing.T) {
					b := tile.New("staged")
					i := b.Axis("i", 3, tile.Parallel)
					j := b.Axis("j", 4, semantics)
					s := b.Axis("s", 2, tile.Arbitrary)
					x := b.In("x", tile.Float32, tile.Array(m, k), tile.Block(4, 4).At(i, s).Buffered(buffers))
					w := b.In("w", tile.Float32, tile.Array(k, n/group), tile.Block(4, 3).At(s, tile.FloorDiv(j, group)).Buffered(buffers))
					row := b.In("row", tile.Float32, tile.Array(1, n), tile.Block(1, 3).At(tile.Const(0), j).Buffered(buffers))
					o := b.Out("o", tile.Float32, tile.Array(m, n), tile.Block(4, 3).At(i, j))
					acc := b.Scratch("acc", tile.Float32, 4, 3)
					b.When(s.First(), func() { b.Store(acc, tile.Broadcast(row, 4, 3)) })
					b.Accumulate(acc, tile.Dot(x, w))
					b.When(s.Last(), func() { b.Store(o, acc) })
					programs, err := b.Programs()
					if err != nil {
						t.Fatal(err)
					}
					in := []tile.Tensor{tile.NewTensor(tile.Float32, m, k), tile.NewTensor(tile.Float32, k, n/group), tile.NewTensor(tile.Float32, 1, n)}
					for _, tensor := range in {
						for e := range tensor.Len() {
							tensor.Set(e, float64(e*7%11)-5)
						}
					}
					want, err := interp.Run(context.Background(), programs, in)
					if err != nil {
						t.Fatal(err)
					}
					staged := programs[0].Pipelined()
					if err := staged.Verify(); err != nil {
						t.Fatalf("%v\n%s", err, staged)
					}
					if has := strings.Contains(staged.String(), "start x"); has != (buffers > 0) {
						t.Errorf("with %d buffers:\n%s", buffers, staged)
					}
					for _, early := range []bool{false, true} {
						have, err := interp.RunWith(context.Background(), []*tile.Program{staged}, in, interp.Options{EarlyCopies: early, Shuffle: 3})
						if err != nil {
							t.Fatalf("%v\n%s", err, staged)
						}
						if !bytes.Equal(have[0].Data, want[0].Data) {
							t.Errorf("early %v: another result", early)
						}
					}
					var text bytes.Buffer
					if err := tile.WritePrograms(&text, []*tile.Program{programs[0], rename(staged)}); err != nil {
						t.Fatal(err)
					}
					again, err := tile.ReadPrograms(&text)
					if err != nil {
						t.Fatal(err)
					}
					if again[0].String() != programs[0].String() || again[1].String() != rename(staged).String() {
						t.Errorf("another program is read than was written:\n%s", again[1])
					}
				})
			}
		}
	}
}

// rename gives outputs another name, so that programs may follow each other.
func rename(p *tile.Program) *tile.Program {
	q := *p
	q.Refs = nil
	old, now := p.RefsOf(tile.Out)[0], *p.RefsOf(tile.Out)[0]
	now.Name = "again"
	for _, r := range p.Refs {
		if r == old {
			r = &now
		}
		q.Refs = append(q.Refs, r)
	}
	var body func([]*tile.Stmt) []*tile.Stmt
	body = func(list []*tile.Stmt) []*tile.Stmt {
		var out []*tile.Stmt
		for _, s := range list {
			c := *s
			if c.Ref == old {
				c.Ref = &now
			}
			c.Body = body(s.Body)
			out = append(out, &c)
		}
		return out
	}
	q.Body = body(p.Body)
	return &q
}
