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
	"time"

	"matladder/internal/childlog"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/stats"

	"github.com/spf13/pflag"
)

// A bisection looks for the commit that brought a slowdown: git bisect in a work tree of its
// own, whose every step compares the program of a commit with that of GOOD in turns.
type bisection struct {
	*options
	folder, tree, prefix string // of programs; the work tree in it; where in that to build
	stderr               io.Writer
	warn                 func(error)
	target               string // the point that is followed, once it is known
}

// placeBisect takes the arguments for a range of commits.
func (o *options) placeBisect(f *pflag.FlagSet) error {
	good, bad, ok := strings.Cut(o.bisect, "..")
	if !ok || good == "" || strings.HasPrefix(bad, ".") {
		return cli.Usagef("--bisect %s: want GOOD..BAD, two commits, or GOOD.. for the newest", o.bisect)
	}
	o.old, o.new = []string{good}, []string{cmp.Or(bad, "HEAD")}
	if f.NArg() > 0 && f.ArgsLenAtDash() != 0 {
		return cli.Misuse(f, "--bisect takes no programs, as %s: flags of bench stand behind --", f.Arg(0))
	}
	if err := o.placeTurns(f, f.Args()); err != nil {
		return err
	}
	return (&program{name: "flags of bench", args: o.sweep}).check()
}

// runBisect finds the commit and writes what it says of itself, and the table of it.
func (o *options) runBisect(ctx context.Context, stdout, stderr io.Writer, warn func(error)) (err error) {
	b := &bisection{options: o, stderr: stderr, warn: warn, tree: "."}
	for _, end := range []*string{&o.old[0], &o.new[0]} {
		hash, err := b.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", *end+"^{commit}")
		if err != nil {
			return cmp.Or(ctx.Err(), cli.Usagef("--bisect: %s is no commit of the repository of this folder", *end))
		}
		*end = hash
	}
	good, bad := o.old[0], o.new[0]
	if _, err := b.git(ctx, "merge-base", "--is-ancestor", good, bad); err != nil || good == bad {
		return cmp.Or(ctx.Err(), cli.Usagef("--bisect %s: the first is not before the second", o.bisect))
	}
	if b.prefix, err = b.git(ctx, "rev-parse", "--show-prefix"); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "compare-bisect"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	tree := filepath.Join(b.folder, "tree")
	if _, err := b.git(ctx, "worktree", "add", "--quiet", "--detach", tree, good); err != nil {
		return err
	}
	defer exec.Command("git", "worktree", "remove", "--force", tree).Run()
	b.tree = tree
	if err := b.build(ctx, good); err != nil {
		return err
	}
	table, err := b.compareAt(ctx, bad)
	if err != nil {
		return err
	}
	slower := each.That(table.list, func(c stats.Comparison) bool { return c.Verdict == stats.Slower })
	if len(slower) == 0 {
		return cmp.Or(table.conclude(stdout, warn), fmt.Errorf("no point is SLOWER at the end of %s: there is nothing to look for", o.bisect))
	}
	worst := slices.MinFunc(slower, stats.CompareVerdicts)
	b.target = name(worst.New)
	b.band = math.Sqrt(1/worst.Ratio.Median) - 1 // of commits between, SAME is less than half of it
	said, err := b.git(ctx, "bisect", "start", "--first-parent", bad, good)
	for err == nil && !strings.Contains(said, "first bad commit") {
		var at string
		if at, err = b.git(ctx, "rev-parse", "HEAD"); err != nil {
			break
		}
		t, failed := b.compareAt(ctx, at)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict, why := b.verdict(t, failed)
		if verdict == "bad" {
			table = t
		}
		fmt.Fprintf(stderr, "%s: %s: %v\n", b.title(ctx, at), verdict, why)
		said, err = b.git(ctx, "bisect", verdict)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s is slower by %.3g %%:\n%s\n\n", b.target, 100*(1/worst.Ratio.Median-1), said)
	return table.conclude(stdout, warn)
}

// verdict is the word of git bisect for a commit, by the point that is followed.
func (b *bisection) verdict(t *abTest, failed error) (word string, why any) {
	if failed != nil {
		return "skip", failed
	}
	at := slices.IndexFunc(t.list, func(c stats.Comparison) bool { return name(c.New) == b.target })
	if at < 0 {
		return "skip", b.target + " is not measured there"
	}
	switch v := t.list[at].Verdict; v {
	case stats.Slower, stats.Lost:
		return "bad", v
	case stats.Same, stats.Faster:
		return "good", v
	default:
		return "skip", v
	}
}

// compareAt builds a commit's program and compares it with that of GOOD.
func (b *bisection) compareAt(ctx context.Context, commit string) (*abTest, error) {
	if err := b.build(ctx, commit); err != nil {
		return nil, err
	}
	one := *b.options
	one.old, one.new = []string{b.program(b.old[0])}, []string{b.program(commit)}
	t, err := one.newAB(b.stderr, func(error) {})
	if err != nil {
		return nil, err
	}
	defer t.clear()
	t.target, t.sides[0].name, t.sides[1].name = b.target, b.title(ctx, b.old[0]), b.title(ctx, commit)
	if err := t.measure(ctx, b.warn); err != nil {
		return nil, err
	}
	if len(t.list) == 0 {
		return nil, errors.New("no point that ran is one of the first commit too")
	}
	return t, nil
}

func (b *bisection) program(commit string) string {
	return filepath.Join(b.folder, "bench-"+commit+words.When(runtime.GOOS == "windows", ".exe"))
}

// build makes the program of a commit.
func (b *bisection) build(ctx context.Context, commit string) error {
	if _, err := b.git(ctx, "checkout", "--quiet", "--force", "--detach", commit); err != nil {
		return err
	}
	command := []string{"go", "build", "-o", b.program(commit), "./cmd/bench"}
	switch {
	case b.command != "" && runtime.GOOS == "windows":
		command = []string{"cmd", "/c", b.command}
	case b.command != "":
		command = []string{"sh", "-c", b.command}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Join(b.tree, b.prefix)
	cmd.Env = append(os.Environ(), "OUT="+b.program(commit))
	var output childlog.Writer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 5 * time.Second // for what it has started
	apart(cmd)
	err := cmd.Run()
	if _, missing := os.Stat(b.program(commit)); err == nil && missing != nil {
		err = errors.New("no program $OUT was made")
	}
	if err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("%s does not build: %w%s", b.title(ctx, commit), err, words.Between(": ", output.Line(), "")))
	}
	return nil
}

// title names a commit for people.
func (b *bisection) title(ctx context.Context, commit string) string {
	said, _ := b.git(ctx, "show", "--no-patch", "--format=%h %s", commit)
	return said
}

// git returns what git prints of the work tree.
func (b *bisection) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", b.tree}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	apart(cmd)
	err := cmd.Run()
	said := strings.TrimSpace(out.String())
	if err != nil && !strings.Contains(said, "first bad commit") { // it names several commits with an error
		line, _, _ := strings.Cut(errs.String(), "\n")
		return "", cmp.Or(ctx.Err(), fmt.Errorf("git %s: %w%s", args[0], err, words.Between(": ", line, "")))
	}
	return said, nil
}
