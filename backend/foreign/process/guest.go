package process

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/internal/stage"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/problem"
)

// runner is the Python program that calls functions of a file. It is handed over on the
// command line, and the file's text in a request: what is measured is what was hashed.
//
//go:embed python/runner.py
var runner string

// kindPython is a function of a Python file.
const kindPython = "python"

// kindTriton is Triton's compiler.
const kindTriton = "triton"

// PythonVariable names the interpreter, in the environment.
const PythonVariable = "MATLADDER_PYTHON"

// Python is where a function of a Python file is.
type Python struct {
	File        string          // its path
	Function    string          // what it is called there
	Interpreter string          // path or name of python3; if empty, that of PythonVariable, of an active environment, or python3
	Threads     int             // that it may use; at least 1
	Interpret   *machine.Device // kernels of Pallas run in its interpret mode, which needs no TPU, as on this one; nil if not
}

// loadLimit is how long a file may take to be imported.
const loadLimit = 2 * time.Minute

// OpenPython imports a Python file in a child process, which has to have the function. f.Name
// is the function's if it is empty.
func OpenPython(ctx context.Context, f foreign.Function, at Python, host machine.Device) (*Backend, error) {
	text, path, err := foreign.ReadFile(at.File)
	if err != nil {
		return nil, err
	}
	f.Name = cmp.Or(f.Name, at.Function)
	if f, err = f.Complete(); err != nil {
		return nil, err
	}
	interpreter, err := findPython(ctx, at.Interpreter)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, fmt.Errorf("%s is not imported within %s: %w", at.File, loadLimit, context.DeadlineExceeded))
	defer cancel()
	b, err := open(ctx, Options{Library: Library{Name: f.Name, Path: path, kind: kindPython, python: interpreter}, Threads: at.Threads, Host: host},
		guest{f, at.Function, text, at.Interpret})
	if err != nil {
		return nil, err
	}
	b.version = foreign.Hash(text) + " " + b.version
	return b, nil
}

// findPython is the interpreter that is asked for, or else the first of those that there may be:
// the program itself, as some are scripts that start it and wait (pyenv), and hide how it ends.
func findPython(ctx context.Context, asked string) (string, error) {
	list := []string{asked, os.Getenv(PythonVariable)}
	for _, root := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(root); dir != "" {
			list = append(list, filepath.Join(dir, "bin", "python3"))
		}
	}
	name := cmp.Or(append(list, "python3")...)
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no Python: %w; --python PATH or %s names one", err, PythonVariable)
	}
	itself, err := exec.CommandContext(ctx, path, "-c", "import sys; print(sys.executable)").Output()
	if found := strings.TrimSpace(string(itself)); err == nil && found != "" {
		return found, nil
	}
	return path, nil // that it does not run is said where it is started
}

// guest asks for a function of a Python file.
type guest struct {
	foreign.Function
	symbol    string
	text      []byte
	interpret *machine.Device
}

func (g guest) hello(b *Backend) (string, [][]byte) {
	word, arrays := "hello ", [][]byte{g.text}
	if g.interpret != nil {
		word, arrays = "interpret ", append(arrays, []byte(deviceWords(*g.interpret)))
	}
	return word + g.symbol + " " + b.options.Library.Path, arrays
}

func (g guest) supports(_ *Backend, p problem.Problem) error    { return g.Computes(p) }
func (g guest) variants(_ *Backend, p problem.Problem) []string { return g.Variants(p) }
func (g guest) products(*Backend) []string                      { return []string{g.Asked.String()} }

func (g guest) request(_ *Backend, spec backend.ProblemSpec) (string, error) {
	return problemRequest(g.symbol, spec.Problem)
}

// keeps: to import what a file needs takes seconds.
func (guest) keeps() bool { return true }

// Signature is how the function of a Python file is called, for people; "" for a library.
func (b *Backend) Signature() string {
	g, ok := b.asks.(guest)
	if !ok {
		return ""
	}
	in, out, err := operandsOf(g.Family.Make(g.Family.Equal(1), g.Asked))
	if err != nil {
		return ""
	}
	name := func(o problem.Operand) string { return o.Name }
	return fmt.Sprintf("%s = %s(%s)", strings.Join(each.Of(out, name), ", "), g.symbol, strings.Join(each.Of(in, name), ", "))
}

// problemRequest has the runner make a function ready for a problem.
func problemRequest(function string, p problem.Problem) (string, error) {
	in, out := stage.Split(p.Operands())
	text, err := json.Marshal(struct {
		Function string
		In, Out  []problem.Operand
		Problem  problem.Problem
	}{function, in, out, p})
	return "problem " + string(text), err
}

// Export returns what is made of a function of a Python file for a problem and a device that this
// machine need not have: of a function of JAX for a TPU StableHLO as text; of a kernel of Triton for a GPU,
// JSON of its text and of what it is launched with (ttir.ReadLaunch).
// What is neither is ErrUnsupported.
func (b *Backend) Export(ctx context.Context, p problem.Problem, on machine.Device) (string, error) {
	if err := b.Supports(p); err != nil {
		return "", fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	request, err := b.asks.request(b, backend.ProblemSpec{Problem: p})
	if err != nil {
		return "", err
	}
	process, err := b.process(ctx)
	if err != nil {
		return "", err
	}
	if _, err = process.ask(ctx, request, nil, nil); err != nil {
		process.end()
		return "", err
	}
	return b.made(ctx, process, "export "+deviceWords(on), nil)
}

// made has a process make a text, which it then hands over.
func (b *Backend) made(ctx context.Context, process process, request string, arrays [][]byte) (string, error) {
	var text []byte
	length, err := process.ask(ctx, request, arrays, nil)
	if err == nil {
		n, wrong := strconv.Atoi(length)
		if wrong != nil || n < 1 || n > foreign.Largest {
			err = fmt.Errorf("the program is said to have %q bytes", length)
		}
		text = make([]byte, max(0, min(n, foreign.Largest)))
	}
	if err == nil {
		_, err = process.ask(ctx, "exported", nil, [][]byte{text})
	}
	if err != nil {
		process.end()
		return "", err
	}
	b.done(process)
	return string(text), nil
}

// deviceWords describes a device to the runner: of a TPU platform, cores and what JAX calls it, of a GPU its
// compute capability, or of AMD's the architecture, in place of cores.
func deviceWords(d machine.Device) string {
	switch {
	case strings.HasPrefix(d.Arch, "gfx"):
		return fmt.Sprintf("hip %s %s", d.Arch, d.Names[0])
	case d.Kind == machine.GPU:
		return fmt.Sprintf("cuda %s %s", strings.Trim(d.Arch, "sm_a"), d.Names[0])
	}
	return fmt.Sprintf("tpu %d %s", max(1, d.Cores), d.Names[0])
}

// OpenTriton starts a Python with Triton, whose compiler for AMD needs no GPU. The interpreter is
// that of PythonVariable, of an active environment, or python3.
func OpenTriton(ctx context.Context, host machine.Device) (*Backend, error) {
	interpreter, err := findPython(ctx, "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, fmt.Errorf("Triton is not imported within %s: %w", loadLimit, context.DeadlineExceeded))
	defer cancel()
	at := Library{Name: "triton", Path: "Triton", kind: kindTriton, python: interpreter}
	b, err := open(ctx, Options{Library: at, Threads: runtime.GOMAXPROCS(0), Host: host}, guest{symbol: "*", text: []byte("import triton")})
	if err != nil {
		return nil, fmt.Errorf("%w; %s names another Python", err, PythonVariable)
	}
	return b, nil
}

// CompileTriton returns JSON of the assembly that Triton makes of a kernel for an architecture
// of AMD ("text"), and of its bytes of shared memory ("shared"). Compilations may go on at the same time.
func (b *Backend) CompileTriton(ctx context.Context, ttir, arch string, warps, stages int) (string, error) {
	process, err := b.process(ctx)
	if err != nil {
		return "", err
	}
	return b.made(ctx, process, fmt.Sprintf("compile %s %d %d", arch, warps, stages), [][]byte{[]byte(ttir)})
}
