package harness

import (
	"context"
	"path/filepath"
	"testing"

	"matladder/stats"
)

// TestTogether measures two products of each size as one group: they share their
// rounds, and are compared.
func TestTogether(t *testing.T) {
	f := newFake()
	c := small(t, "kernels: [4]\nblocks: 16x16x16\ntogether: true\n")
	s := plan(t, c, f)
	s.Compare(&fakePeer{f, "some", []string{""}})
	if len(s.Groups) != 2 {
		t.Fatalf("%d groups, want one for each size", len(s.Groups))
	}
	for _, g := range s.Groups {
		if list := g.problems(); len(list) != 2 || list[0] != g.Problem || len(g.Points) != 4 { // a kernel and a peer, of each
			t.Errorf("%s: problems %v, %d points", g.Problem, list, len(g.Points))
		}
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	out, err := start(context.Background(), s, options(f, path), f.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, path, out)
	type turn struct{ m, round int }
	taken := map[turn]map[string]bool{}
	for i, r := range out.Rows {
		if r.Beside != "float32" {
			t.Fatalf("a row beside %q", r.Beside)
		}
		if r.Kernel != "v4_optblock" {
			continue
		}
		now := turn{r.M, r.Round}
		if taken[now] == nil {
			taken[now] = map[string]bool{}
		}
		taken[now][r.DtypeA] = true
		if before := out.Rows[max(0, i-1)]; before.M == r.M && before.Round > r.Round {
			t.Errorf("round %d comes after round %d", r.Round, before.Round)
		}
	}
	for at, dtypes := range taken {
		if len(dtypes) != 2 {
			t.Errorf("round %d of %d: %v", at.round, at.m, dtypes)
		}
	}
	n := 0
	for _, c := range stats.Costs(stats.Best(stats.Summarize(out.Rows))) {
		if c.Point.Kernel == "v4_optblock" && c.Base != nil && c.Base.DtypeA == "float32" && c.Point.DtypeA == "int8" && c.Times.N >= 6 {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d comparisons, want one for each size", n)
	}

	opt := options(f, path)
	opt.Resume = true
	if again, err := start(context.Background(), s, opt, f.now); err != nil || again.New != 0 {
		t.Errorf("resumed: %d new rows, %v", again.New, err)
	}
}
