package harness

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"matladder/stats"

	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// fakePeer is a library that computes float32 alone, on the clock of its fake. Each
// of its products fails in its own way, told by the variant.
type fakePeer struct {
	*fake
	name     string
	variants []string
}

func (p *fakePeer) Name() string             { return p.name }
func (p *fakePeer) Plugin() (string, string) { return "lib" + p.name + ".so", "1.2" }

func (p *fakePeer) Variants(problem.Problem) []string { return p.variants }

func (p *fakePeer) Supports(m problem.Problem) error {
	if m.Asked().A != tile.Float32 {
		return errors.New("only float32")
	}
	return nil
}

func (p *fakePeer) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	k := kernels.All[0]
	programs, err := k.Build(spec.Problem, "", k.Candidates(spec.Problem, problem.Machine{})[0])
	if err != nil {
		return nil, err
	}
	programs[0].Name = p.name + spec.Variant // by which the fake knows how to misbehave
	return p.Compile(ctx, programs, spec.Params)
}

// TestPeers measures libraries beside a kernel: each takes its turn in every
// round, and one that fails costs its own point.
func TestPeers(t *testing.T) {
	f := newFake()
	f.misdo = map[string]do{
		"otherwrong": {fault: "tile", after: 3},
		"othergone":  {run: &backend.CrashError{What: "run", Reason: "signal 11"}, after: 4},
	}
	c := small(t, "kernels: [4]\nblocks: 16x16x16\n")
	s := plan(t, c, f)
	s.Compare(&fakePeer{f, "some", []string{""}}, &fakePeer{f, "other", []string{"", "wrong", "gone"}})
	path := filepath.Join(t.TempDir(), "rows.csv")
	out, err := start(context.Background(), s, options(f, path), f.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, path, out)
	if f.open != 0 {
		t.Errorf("%d bytes are left open", f.open)
	}
	rounds, ended := map[string][]int{}, map[string]int{}
	for _, r := range out.Rows {
		if r.Kernel == "v4_optblock" {
			continue
		}
		if r.Backend != r.Kernel || r.Plugin != "lib"+r.Kernel+".so" || r.PluginVersion != "1.2" || !r.Peer() || r.BM != 0 {
			t.Errorf("row %+v", r)
		}
		if r.DtypeA != "float32" {
			if r.Status != results.Unsupported || r.Reason != "only float32" {
				t.Errorf("%s %s: %s %s", r.Kernel, r.DtypeA, r.Status, r.Reason)
			}
			continue
		}
		switch id := r.Kernel + r.Variant; {
		case r.Status == results.OK:
		case r.Status == results.Wrong && id == "otherwrong", r.Status == results.Crashed && id == "othergone":
			ended[id]++
		default:
			t.Errorf("%s round %d: %s %s", id, r.Round, r.Status, r.Reason)
		}
		if r.M == 32 {
			rounds[r.Kernel+r.Variant] = append(rounds[r.Kernel+r.Variant], r.Round)
		}
	}
	if len(rounds["some"]) < c.MinRounds || !slices.Equal(rounds["some"], rounds["other"]) {
		t.Errorf("rounds %v", rounds)
	}
	for _, id := range []string{"otherwrong", "othergone"} {
		if ended[id] != 2 || len(rounds[id]) >= c.MinRounds { // once at each size
			t.Errorf("%s ends %d times, after rounds %v", id, ended[id], rounds[id])
		}
	}
	summaries := stats.Best(stats.Summarize(out.Rows))
	for _, contest := range stats.Contests(summaries) {
		if contest.Points[0].DtypeA == "float32" && (contest.Best == nil || contest.Rival == nil || !contest.Ratio.Sure()) {
			t.Errorf("%s: %+v", contest.Points[0].Size(), contest.Ratio)
		}
	}
}

// TestPeers_Resume checks that a complete sweep with peers is not measured again.
func TestPeers_Resume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "kernels: [4]\nblocks: 16x16x16\n")
	for i := range 2 {
		f := newFake()
		s := plan(t, c, f)
		s.Compare(&fakePeer{f, "some", []string{""}})
		opt := options(f, path)
		opt.Resume = i > 0
		out, err := start(context.Background(), s, opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && out.New != 0 {
			t.Errorf("%d rows are measured again", out.New)
		}
	}
}
