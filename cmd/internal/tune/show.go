package tune

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/problem"
	"matladder/stats"
	"matladder/tile"
)

// table reads the table that the flags name, of a device.
func (f *flags) table(dev *device) (*tuned.Table, string, error) {
	path := f.path(dev.machine)
	t, err := f.load(path, dev.machine)
	if err == nil && len(t.Rows) == 0 {
		err = fmt.Errorf("no table %s; make it with: go run ./cmd/tune", path)
	}
	return t, path, err
}

// first is the block shape of the third rung, and what others fall back to where
// nothing was tuned.
var first = tile.Blocks{M: 128, K: 128, N: 128}

// show prints the table and what its fallbacks cost.
func (f *flags) show(ctx context.Context, w io.Writer) error {
	dev, err := f.open(ctx, io.Discard)
	if err != nil {
		return err
	}
	defer dev.Close()
	t, path, err := f.table(dev)
	if err != nil {
		return err
	}
	for _, r := range t.Rows {
		showRow(w, r)
	}
	costs := t.Costs()
	if len(costs) > 0 {
		fmt.Fprintln(w, "what look-ups answer for the problems above if their own row is not there, in times of their own blocks:")
	}
	for _, c := range costs {
		fmt.Fprintf(w, "    %s, %s: answers for %s%s%s\n", c.Source, meaning[c.Source], words.Count(c.Rows, "problem"),
			words.When(c.Rows > c.Unknown, ", %.3f × in the mean, %.3f × at worst", c.Mean, c.Worst),
			words.When(c.Unknown > 0, " (%d never timed with that answer)", c.Unknown))
	}
	short := len(each.That(t.Rows, endedByBudget))
	ended := words.When(short > 0, ", %d of them ended by the budget: tune them again to go on", short)
	_, err = fmt.Fprintf(w, "%s: %s%s\n", path, words.Count(len(t.Rows), "row"), ended)
	return err
}

// meaning says which row a step of the look-up takes.
var meaning = map[tuned.Source]string{
	tuned.NearestBatch: "a row of the same sizes but for the first (of products the same k and n), which is at most a factor of 2 away",
	tuned.SameKN:       "a row of the same sizes but for the first (of products the same k and n)",
	tuned.ShapeClass:   "a row whose sizes are each at most about a factor of 4 away",
}

// choice is the block shape of a row with its parameters.
func choice(r tuned.Row) tuned.Answer { return tuned.Answer{Blocks: r.Blocks, Params: r.Params} }

// showRow prints a row: the block shape with its parameters and the time, how sure the
// choice is, and how it was found.
func showRow(w io.Writer, r tuned.Row) {
	e := r.Evidence
	how := " predicted"
	if e.Mode == tuned.Measured {
		how = fmt.Sprintf(" (%s to %s, %s)", stats.FormatSeconds(e.Low), stats.FormatSeconds(e.High), words.Count(e.Samples, "sample"))
	}
	fmt.Fprintf(w, "%s\n    blocks %s  %s%s\n", r.Key, choice(r), stats.FormatSeconds(e.Seconds), how)
	b := problem.Clip(r.Problem, first)
	usual := words.When(e.Tried[b] > 1 && b != e.RunnerUp && b != e.Confirmed.Rival, "%s takes %.3f × as long", b, e.Tried[b])
	found := fmt.Sprintf("%s; %s; %s", searched(e), e.Versions, e.Date)
	for _, line := range []string{confirmed(e), words.Joined("; ", then(e), usual), adjusted(r), found} {
		if line != "" {
			fmt.Fprintf(w, "      %s\n", line)
		}
	}
}

// progress is one line on a terminal that says how far a problem is; elsewhere the
// rows that are found are progress enough.
type progress struct {
	w     io.Writer
	tty   bool
	width int // of what stands on the line
}

// observe returns the observer of one problem.
func (p *progress) observe(what string) func(tune.Event) {
	if !p.tty {
		return nil
	}
	return func(e tune.Event) {
		line := fmt.Sprintf("%s: %d of %d launched", what, e.Screened, e.Candidates)
		switch {
		case e.Adjusting:
			line = fmt.Sprintf("%s: adjustments, round %d, %d in the race", what, e.Round, e.Racing)
		case e.Round > 0:
			line = fmt.Sprintf("%s: round %d, %d in the race", what, e.Round, e.Racing)
		}
		line = cli.Line(p.w, line, 1) // the cursor stands behind it
		fmt.Fprintf(p.w, "\r%-*s", p.width, line)
		p.width = utf8.RuneCountInString(line)
	}
}

// clear empties the line.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.width, "")
		p.width = 0
	}
}
