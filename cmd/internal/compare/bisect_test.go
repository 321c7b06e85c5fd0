package compare

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"matladder/internal/cli"
)

// madeRepository changes to a repository of commits, whose programs are this test as a fake
// bench of the kind that each commit says, and returns the hashes. One kind does not build.
func madeRepository(t *testing.T, kinds ...string) (commits []string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("git and a shell are needed")
	}
	t.Chdir(t.TempDir())
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %s", args, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	for i, kind := range kinds {
		writeFile(t, "kind", kind+"\n")
		writeFile(t, "number", fmt.Sprint(i))
		git("add", ".")
		git("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", fmt.Sprintf("change %d", i))
		commits = append(commits, git("rev-parse", "HEAD"))
	}
	return commits
}

// buildFake is a command of --build that makes a program of the kind in file kind.
func buildFake(t *testing.T) string {
	words, executable := strings.Fields(bench(t, "KIND")), filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(executable, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return `grep -qv broken kind && cp ` + executable + ` "$OUT" && printf '#!/bin/sh\nexport ` + fake + `=%s\nexec ` + words[1] + ` "$@"\n' "$(cat kind)" >"$OUT"`
}

// TestBisect: the commit is named, with those that do not build passed over, and no work tree stays.
func TestBisect(t *testing.T) {
	commits := madeRepository(t, "fine", "fine", "fine", "broken", "fine", "slow", "slow", "broken", "slow")
	t.Setenv("TMPDIR", t.TempDir())
	args := []string{"--bisect", commits[0] + "..", "--pairs", "10", "--build", buildFake(t)}
	code, stdout, stderr := compare(args...)
	if code != cli.OK || !strings.HasPrefix(stdout, "v4_optblock 64×64×64 float32 64 measured is slower by ") || !strings.Contains(stdout, " %:\n"+commits[5]+" is the first bad commit\ncommit ") || !strings.Contains(stdout, "\nAuthor: Ann") ||
		!strings.Contains(stdout, "    change 5\n") || !strings.Contains(stdout, "SLOWER") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	args[1] = commits[1] + ".." + commits[2]
	if code, stdout, stderr := compare(args...); code != cli.Failed || !strings.Contains(stdout, "SAME") || !strings.Contains(stderr, "no point is SLOWER at the end of "+args[1]) {
		t.Errorf("nothing to find: exit %d\n%s%s", code, stdout, stderr)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	args[1] = commits[0] + ".."
	var out, errs bytes.Buffer
	if code := Run(ctx, append(args, "--turn", "1s"), &out, &errs); code == cli.OK {
		t.Errorf("interrupted: exit %d\n%s%s", code, &out, &errs)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	begun := filepath.Join(t.TempDir(), "begun")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if code := Run(ctx, []string{"--bisect", commits[0] + "..", "--build", "trap 'exit 1' INT; touch " + begun + "; sleep 1h; sleep 1h"}, &out, &errs); code != cli.Interrupted {
		t.Errorf("interrupted while it builds: exit %d\n%s%s", code, &out, &errs)
	}
	left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	trees, err := exec.Command("git", "worktree", "list").Output()
	if len(left) > 0 || err != nil || strings.Count(string(trees), "\n") != 1 {
		t.Errorf("left are %q and %s: %v", left, trees, err)
	}
}

// TestBisect_Range: where commits in between do not build, all are named of which it is one.
func TestBisect_Range(t *testing.T) {
	commits := madeRepository(t, "old", "broken", "broken", "slow")
	code, stdout, stderr := compare("--bisect", commits[0]+".."+commits[3], "--pairs", "10", "--build", buildFake(t))
	if code != cli.OK || !strings.Contains(stdout, "The first bad commit could be any of:\n") || strings.Count(stdout, commits[1])+strings.Count(stdout, commits[2])+strings.Count(stdout, commits[3]) != 3 || strings.Count(stderr, "does not build") != 2 {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--bisect", "HEAD"}, cli.Usage, "--bisect HEAD: want GOOD..BAD"},
		{[]string{"--bisect", "HEAD...main"}, cli.Usage, "want GOOD..BAD"},
		{[]string{"--bisect", "nope.."}, cli.Usage, "--bisect: nope is no commit of the repository of this folder"},
		{[]string{"--bisect", "HEAD~1..nope"}, cli.Usage, "--bisect: nope is no commit"},
		{[]string{"--bisect", "HEAD..HEAD~1"}, cli.Usage, "--bisect HEAD..HEAD~1: the first is not before the second"},
		{[]string{"--bisect", "HEAD~1..", "bench"}, cli.Usage, "--bisect takes no programs, as bench: flags of bench stand behind --"},
		{[]string{"--bisect", "HEAD~1..", "--", "--out", "x.csv"}, cli.Usage, "--out makes no sense in turns"},
		{[]string{"--bisect", "HEAD~1..", "--pairs", "0"}, cli.Usage, "--pairs 0: want at least 1"},
		{[]string{"--bisect", "HEAD~3..", "--build", "false"}, cli.Failed, "change 0 does not build: exit status 1\n"},
		{[]string{"--bisect", "HEAD~3..", "--build", "true"}, cli.Failed, "change 0 does not build: no program $OUT was made\n"},
		{[]string{"--bisect", "HEAD~3..", "--build", buildFake(t), "--", "--param", "b=packed"}, cli.Usage, " change 0: unknown flag: --param (bench --help lists the flags)\n"},
		{[]string{"--build", "make", "old.csv", "new.csv"}, cli.Usage, "--build is for --bisect"},
	} {
		if code, _, stderr := compare(c.args...); code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, want %d with %q\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
}
