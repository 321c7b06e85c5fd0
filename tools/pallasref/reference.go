package main

import (
	"bufio"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"matladder/backend/xla/aot"
	"matladder/internal/childlog"
)

// scripts are those that compile, and what they share.
//
//go:embed *.py
var scripts embed.FS

// Scripts that a Reference may run.
const (
	ownKernels     = "reference.py"       // ours, written in Pallas
	library        = "library.py"         // those that JAX has in its library
	tokamaxLibrary = "tokamax_kernels.py" // those of tokamax, which is no part of JAX
)

// Reference compiles with JAX, in a Python process that is started when it is
// first needed and after one has ended.
type Reference struct {
	Python string        // of an environment with JAX
	Script string        // ownKernels unless it is another
	Libtpu string        // path of the library
	Folder string        // for scripts, and what libtpu logs
	Dump   string        // folder for schedules; "" for none
	Limit  time.Duration // for one compilation

	process *process
}

// process is a running script.
type process struct {
	cmd  *exec.Cmd
	to   io.WriteCloser
	from *bufio.Reader
	said childlog.Writer
}

// environment is what libtpu needs where there is no TPU; JAX itself is to look
// for no device.
var environment = []string{
	"TPU_SKIP_MDS_QUERY=1", "TPU_ACCELERATOR_TYPE=v5litepod-1", "TPU_WORKER_HOSTNAMES=localhost",
	"ALLOW_MULTIPLE_LIBTPU_LOAD=1", "TPU_LOG_DIR=disabled", "TPU_MIN_LOG_LEVEL=3", "TPU_STDERR_LOG_LEVEL=3",
	"JAX_PLATFORMS=cpu",
}

func (r *Reference) start() error {
	folder, err := os.MkdirTemp(r.Folder, "scripts")
	if err == nil {
		err = os.CopyFS(folder, scripts)
	}
	if err != nil {
		return err
	}
	p := &process{cmd: exec.Command(r.Python, filepath.Join(folder, cmp.Or(r.Script, ownKernels)))}
	p.cmd.Env = append(append(os.Environ(), environment...), "TPU_LIBRARY_PATH="+r.Libtpu, "TMPDIR="+r.Folder)
	if r.Dump != "" {
		p.cmd.Env = append(p.cmd.Env, "LIBTPU_INIT_ARGS="+dumpFlags(r.Dump))
	}
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = time.Second
	if p.to, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	from, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.from = bufio.NewReader(from)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("Python with JAX: %w", err)
	}
	r.process = p
	return nil
}

// question and answer are lines of JSON.
type (
	question struct {
		Kernel   int    `json:"kernel"`
		Dtype    string `json:"dtype"`
		Size     int    `json:"size"`
		Blocks   [3]int `json:"blocks"`
		Topology string `json:"topology"`
	}
	answer struct {
		Error   string  `json:"error"`
		Seconds float64 `json:"seconds"`
	}
)

// statusPrefix is the name of an error's code, which JAX puts before it.
var statusPrefix = regexp.MustCompile(`^[A-Z_]+: `)

// Compile compiles a point. The error is one of package aot, or tells that there is
// no JAX to ask.
func (r *Reference) Compile(ctx context.Context, p Point) error {
	topology, err := libtpuName(p.Topology)
	if err != nil {
		return err
	}
	return r.ask(ctx, question{p.Kernel.Number(), p.Dtype.String(), p.Size, [3]int{p.Blocks.M, p.Blocks.K, p.Blocks.N}, topology})
}

// ask has the script compile what a question says.
func (r *Reference) ask(ctx context.Context, question any) error {
	if r.process == nil {
		if err := r.start(); err != nil {
			return &setupError{err}
		}
	}
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	running := r.process
	stop := context.AfterFunc(limited, func() { running.cmd.Process.Kill() })
	defer stop()
	_, err = running.to.Write(append(line, '\n'))
	var reply []byte
	if err == nil {
		reply, err = running.from.ReadBytes('\n')
	}
	var a answer
	if err == nil {
		err = json.Unmarshal(reply, &a)
	}
	switch {
	case err == nil && a.Error == "":
		return nil
	case err == nil:
		return aot.Classify(0, statusPrefix.ReplaceAllString(a.Error, ""))
	}
	r.Close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &aot.CrashError{Reason: fmt.Sprintf("no answer within %v", r.Limit)}
	}
	last := running.said.Line()
	if strings.Contains(last, "ModuleNotFoundError") {
		return &setupError{errors.New(last)}
	}
	return &aot.CrashError{Reason: "the compiler ended its process: " + last}
}

// Close ends the process, if there is one.
func (r *Reference) Close() {
	if r.process == nil {
		return
	}
	r.process.to.Close()
	r.process.cmd.Process.Kill()
	r.process.cmd.Wait()
	r.process = nil
}

// setupError is a machine on which nothing can be compared.
type setupError struct{ err error }

func (e *setupError) Error() string { return e.err.Error() }
func (e *setupError) Unwrap() error { return e.err }
