package compare

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"matladder/internal/childlog"
	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/stats"

	"github.com/spf13/pflag"
)

// A bisection looks for the commit that brought a slowdown: it compares programs built at
// commits with the one at GOOD, each pair in turns.
type bisection struct {
	*options
	commits        []string // GOOD's first, BAD's last, along first parents
	folder, prefix string   // of programs and the work tree; where in that to build
	stderr         io.Writer
	warn           func(error)
	target         string // the point that is followed, once it is known
}

// placeBisect takes the arguments for a range of commits.
func (o *options) placeBisect(f *pflag.FlagSet) error {
	good, bad, ok := strings.Cut(o.bisect, "..")
	if !ok || good == "" || strings.HasPrefix(bad, ".") {
		return cli.Usagef("--bisect %s: want GOOD..BAD, two commits, or GOOD.. for the newest", o.bisect)
	}
	o.old, o.new = []string{good}, []string{cmp.Or(bad, "HEAD")}
	if dash := f.ArgsLenAtDash(); f.NArg() > 0 && dash != 0 {
		return cli.Misuse(f, "--bisect takes no programs, as %s: flags of bench stand behind --", f.Arg(0))
	}
	if err := o.placeTurns(f, f.Args()); err != nil {
		return err
	}
	return (&program{name: "flags of bench", args: o.sweep}).check()
}

// runBisect finds the commit and writes what it says of itself, and the table of it.
func (o *options) runBisect(ctx context.Context, stdout, stderr io.Writer, warn func(error)) (err error) {
	b := &bisection{options: o, stderr: stderr, warn: warn}
	if err := b.findCommits(ctx); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "compare-bisect"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	defer b.git(context.WithoutCancel(ctx), "worktree", "remove", "--force", b.tree())
	if _, err := b.git(ctx, "worktree", "add", "--quiet", "--detach", b.tree(), b.commits[0]); err != nil {
		return err
	}
	if err := b.build(ctx, 0); err != nil {
		return err
	}
	good, bad := 0, len(b.commits)-1
	table, err := b.compareAt(ctx, bad)
	if err != nil {
		return err
	}
	slower := slices.DeleteFunc(slices.Clone(table.list), func(c stats.Comparison) bool { return c.Verdict != stats.Slower })
	if len(slower) == 0 {
		err := table.conclude(stdout, warn)
		return cmp.Or(err, fmt.Errorf("no point is SLOWER at %s than at %s: there is nothing to look for", o.new[0], o.old[0]))
	}
	worst := slices.MinFunc(slower, stats.CompareVerdicts)
	b.target = name(worst.New)
	b.band = math.Sqrt(1/worst.Ratio.Median) - 1 // of commits between, SAME is less than half of it
	fmt.Fprintf(stderr, "%s is slower by %.3g %%: looking for it in %s\n", b.target, 100*(1/worst.Ratio.Median-1), words.Count(bad, "commit"))
	skipped := map[int]bool{}
	for {
		middle := b.between(good, bad, skipped)
		if middle < 0 {
			return b.conclude(ctx, stdout, table, b.commits[good+1:bad+1])
		}
		t, verdict, err := b.verdict(ctx, middle)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(stderr, "%s %s\n", b.title(ctx, middle), cmp.Or(string(verdict), "is skipped: "+fmt.Sprint(err)))
		switch verdict {
		case stats.Slower, stats.Lost:
			bad, table = middle, t
		case stats.Same, stats.Faster:
			good = middle
		default:
			skipped[middle] = true
		}
	}
}

// between is the commit nearest to the middle of two that is not skipped; -1 if there is none.
func (b *bisection) between(good, bad int, skipped map[int]bool) int {
	best := -1
	for i := good + 1; i < bad; i++ {
		if off := max(2*i-good-bad, good+bad-2*i); !skipped[i] && (best < 0 || off < max(2*best-good-bad, good+bad-2*best)) {
			best = i
		}
	}
	return best
}

// verdict is that on the point that is followed.
func (b *bisection) verdict(ctx context.Context, commit int) (*abTest, stats.Verdict, error) {
	t, err := b.compareAt(ctx, commit)
	if err != nil {
		return nil, "", err
	}
	for _, c := range t.list {
		if name(c.New) == b.target {
			return t, c.Verdict, nil
		}
	}
	return nil, "", errors.New(b.target + " is not measured there")
}

// compareAt builds a commit's program and compares it with that of GOOD.
func (b *bisection) compareAt(ctx context.Context, commit int) (*abTest, error) {
	if err := b.build(ctx, commit); err != nil {
		return nil, err
	}
	one := *b.options
	one.old, one.new = []string{b.program(0)}, []string{b.program(commit)}
	t, err := one.newAB(b.stderr, func(error) {})
	if err != nil {
		return nil, err
	}
	defer t.clear()
	t.target = b.target
	if err := t.run(ctx, b.warn); err != nil {
		return nil, err
	}
	if len(t.list) == 0 {
		return nil, errors.New("it shares no point that ran with " + b.old[0])
	}
	return t, nil
}

// conclude names the commit, or those of which it is one.
func (b *bisection) conclude(ctx context.Context, stdout io.Writer, table *abTest, commits []string) error {
	said, err := b.git(ctx, append([]string{"show", "--no-patch", "--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n    %s%n"}, commits...)...)
	if err != nil {
		return err
	}
	what := "this commit made " + b.target + " slower"
	if n := len(commits); n > 1 {
		what = fmt.Sprintf("one of these %d commits made %s slower; those between could not be told", n, b.target)
	}
	fmt.Fprintf(stdout, "%s\n\n%s\n", what, said)
	return table.conclude(stdout, b.warn)
}

// findCommits lists the commits of the range.
func (b *bisection) findCommits(ctx context.Context) error {
	var ends [2]string
	for i, named := range []string{b.old[0], b.new[0]} {
		hash, err := b.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", named+"^{commit}")
		if err != nil {
			return cmp.Or(ctx.Err(), cli.Usagef("--bisect: %s is no commit of the repository of this folder", named))
		}
		ends[i] = strings.TrimSpace(hash)
	}
	if _, err := b.git(ctx, "merge-base", "--is-ancestor", ends[0], ends[1]); err != nil || ends[0] == ends[1] {
		return cmp.Or(ctx.Err(), cli.Usagef("--bisect: %s is not before %s", b.old[0], b.new[0]))
	}
	list, err := b.git(ctx, "rev-list", "--first-parent", "--reverse", ends[0]+".."+ends[1])
	if err != nil {
		return err
	}
	b.commits = append(ends[:1:1], strings.Fields(list)...)
	prefix, err := b.git(ctx, "rev-parse", "--show-prefix")
	b.prefix = strings.TrimSpace(prefix)
	return err
}

func (b *bisection) tree() string { return filepath.Join(b.folder, "tree") }

func (b *bisection) program(commit int) string {
	path := filepath.Join(b.folder, "bench-"+b.commits[commit][:12])
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path
}

// build makes the program of a commit.
func (b *bisection) build(ctx context.Context, commit int) error {
	if _, err := b.git(ctx, "-C", b.tree(), "checkout", "--quiet", "--force", "--detach", b.commits[commit]); err != nil {
		return err
	}
	words := []string{"go", "build", "-o", b.program(commit), "./cmd/bench"}
	switch {
	case b.command != "" && runtime.GOOS == "windows":
		words = []string{"cmd", "/c", b.command}
	case b.command != "":
		words = []string{"sh", "-c", b.command}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = filepath.Join(b.tree(), b.prefix)
	cmd.Env = append(os.Environ(), "OUT="+b.program(commit))
	var output childlog.Writer
	cmd.Stdout, cmd.Stderr = &output, &output
	apart(cmd)
	err := cmd.Run()
	if err == nil {
		_, err = os.Stat(b.program(commit))
	}
	if err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("%s does not build: %w: %s", b.title(ctx, commit), err, output.Line()))
	}
	return nil
}

// title names a commit for people.
func (b *bisection) title(ctx context.Context, commit int) string {
	said, _ := b.git(ctx, "show", "--no-patch", "--format=%h %s", b.commits[commit])
	return strings.TrimSpace(said)
}

// git returns what git prints.
func (b *bisection) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	apart(cmd)
	if err := cmd.Run(); err != nil {
		said, _, _ := strings.Cut(errs.String(), "\n")
		return "", cmp.Or(ctx.Err(), fmt.Errorf("git %s: %w%s", args[0], err, words.Between(": ", said, "")))
	}
	return out.String(), nil
}
