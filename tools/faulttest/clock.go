//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stepped sets the clock an hour ahead, two back and one ahead again while a sweep runs: not
// the system's, which others look at, but that of a bench built with another text of Go's
// package time.
func (t *tester) stepped() error {
	root, err := exec.CommandContext(t.ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	const reading = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), reading) != 1 {
		return fmt.Errorf("%w: this Go's time.Now is another one", errLeftOut)
	}
	changed := strings.Replace(string(text), reading, reading+"\tsec += stepped(mono)\n", 1) + `
func stepped(mono int64) int64 {
	switch s := (mono - startNano) / 1e9; {
	case s >= 2 && s < 4:
		return 3600
	case s >= 4 && s < 6:
		return -3600
	}
	return 0
}
`
	file, overlay := filepath.Join(t.folder, "time.go"), filepath.Join(t.folder, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {source: file}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(overlay, list, 0o644); err != nil {
		return err
	}
	program := t.bench + "-stepped"
	build := exec.CommandContext(t.ctx, "go", "build", "-overlay", overlay, "-o", program, "./cmd/bench")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	x, err := t.trial("clock")
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.ctx, program, "--config", x.config, "--out", x.out)
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(said.String()))
	}
	rows, _, err := x.audit()
	if err == nil {
		t.ok("an hour ahead, two back, one ahead: %d rows", rows)
	}
	return err
}
