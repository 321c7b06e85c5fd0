//go:build unix

package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestAction runs the step of action.yml in a repository of two commits, with a stand-in for
// go, whose compare finds a slowdown, and for gh: the table is posted, and the step fails.
func TestAction(t *testing.T) {
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil || action.Runs.Using != "composite" || len(action.Runs.Steps) != 1 {
		t.Fatalf("action.yml: %v", err)
	}
	step := action.Runs.Steps[0]
	dir, source := t.TempDir(), "set -e\n"
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("bin/go", `#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp "$0" "$2"
printf '#!/bin/sh\necho "| table | $*"\necho "compare: slower" >&2\nexit 1\n' >"$2"
`)
	write("bin/gh", "#!/bin/sh\necho \"$*\" >>gh\n")
	source += "git init -q && git config user.name a && git config user.email a@example.com\n" +
		"echo 1 >f && git add f && git commit -qm one && echo 2 >f && git commit -qam two\n"
	if out, err := inFolder(dir, os.Environ(), bash(t), "-c", source); err != nil {
		t.Fatalf("%s", out)
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_REPOSITORY=o/r", "TMPDIR="+t.TempDir())
	given := map[string]string{"base": "HEAD~1", "head": "HEAD", "build": `cat f >>"$GITHUB_STEP_SUMMARY"; echo >"$OUT"`, "token": "secret"}
	for name, expression := range step.Env {
		value := map[string]string{"NUMBER": "7", "ACTION": here}[name]
		if input, ok := strings.CutPrefix(strings.Trim(expression, "${ }"), "inputs."); ok {
			var known bool
			if value, known = given[input]; !known {
				value = action.Inputs[input].Default
			}
			if action.Inputs[input].Description == "" {
				t.Errorf("input %s is not described", input)
			}
		}
		env = append(env, name+"="+value)
	}
	out, err := inFolder(dir, env, bash(t), "-c", step.Run)
	exit, ok := err.(*exec.ExitError)
	summary, _ := os.ReadFile(filepath.Join(dir, "summary"))
	gh, _ := os.ReadFile(filepath.Join(dir, "gh"))
	if !ok || exit.ExitCode() != 1 || !strings.HasPrefix(string(summary), "1\n2\n### Speed of HEAD against HEAD~1\n\n| table | --ab --as md --fail-on-slower 5 /") ||
		!strings.HasSuffix(string(summary), "-- --kernel 1,2,3,4,5 --sizes 512 --dtype float32\n\n```\ncompare: slower\n```\n") ||
		!strings.HasPrefix(string(gh), "pr comment 7 --repo o/r --body-file ") {
		t.Errorf("%v: %s\nsummary: %s\ngh: %s", err, out, summary, gh)
	}
	if trees, _ := inFolder(dir, env, "git", "worktree", "list"); strings.Count(trees, "\n") != 1 {
		t.Errorf("left are %s", trees)
	}
}

func inFolder(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
