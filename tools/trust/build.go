package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A program is a bench that takes turns.
type program struct {
	name    string
	percent float64 // by which its slowed kernel takes longer
}

// reference is what every other program is held against; again is the same program once
// more.
var (
	reference = program{"base", 0}
	again     = program{"again", 0}
	slow2     = program{"slow2", 2}
	slow5     = program{"slow5", 5}
)

// slowed is the kernel that is made slower on purpose.
const slowed = "v3_block"

func (o *options) path(p program) string {
	if p == again {
		p = reference // the same file
	}
	return filepath.Join(o.folder, "bench-"+p.name)
}

// build makes the programs. A slowed one is built from this tree with another text of one
// file: behind each launch of the slowed kernel it does nothing for so much of the time
// that the launch took.
func (o *options) build(ctx context.Context) error {
	root, source, text, err := slowedSource(ctx)
	if err != nil {
		return err
	}
	for _, p := range []program{reference, slow2, slow5} {
		args := []string{"build", "-o", o.path(p)}
		if p.percent > 0 {
			overlay, err := o.overlay(p, source, text)
			if err != nil {
				return err
			}
			args = append(args, "-overlay", overlay)
		}
		cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/bench")...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, said)
		}
	}
	return nil
}

// slowedSource is the file of this tree that launches kernels, and its text.
func slowedSource(ctx context.Context) (root, path, text string, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", "", "", fmt.Errorf("go list: %w; programs are built of this tree: run it there", err)
	}
	root = strings.TrimSpace(string(out))
	path = filepath.Join(root, "backend", "cpu", "internal", "exec", "run.go")
	read, err := os.ReadFile(path)
	return root, path, string(read), err
}

// overlay writes the text of a slowed program and the file by which go build finds it.
func (o *options) overlay(p program, source, text string) (path string, err error) {
	const launch = "err = e.launch()\n"
	if strings.Count(text, launch) != 1 {
		return "", fmt.Errorf("%s has no single %q to be slowed", source, strings.TrimSpace(launch))
	}
	text = strings.Replace(text, launch, fmt.Sprintf(`begun := time.Now()
		err = e.launch()
		if e.Runs[0].Plan.Program.Name == %q {
			for took := time.Since(begun); time.Since(begun) < took+took*%d/1000; {
			}
		}
`, slowed, int(10*p.percent)), 1)
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(folder, p.name+"-run.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, p.name+".json")
	return path, errorsOf(os.WriteFile(changed, []byte(text), 0o666), os.WriteFile(path, overlay, 0o666))
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
