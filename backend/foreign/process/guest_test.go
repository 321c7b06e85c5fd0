//go:build linux

package process

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// needPython skips a test where modules are not installed, and fails it if MATLADDER_REQUIRE
// names the first of them, or python.
func needPython(t *testing.T, modules ...string) {
	t.Helper()
	python, err := findPython(t.Context(), "")
	if err == nil && len(modules) > 0 {
		err = exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).Run()
	}
	required := append(modules, "python")[0]
	if err != nil && slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), required) {
		t.Fatalf("%s is required: %v", required, err)
	} else if err != nil {
		t.Skipf("not installed: python3 -m pip install %s, and %s names that python3", strings.Join(modules, " "), PythonVariable)
	}
}

func openGuest(t *testing.T, ctx context.Context, file, function string, p problem.Problem) (*Backend, error) {
	t.Helper()
	f := foreign.Function{Family: p.Family(), Asked: p.Asked()}
	b, err := OpenPython(ctx, f, Python{File: file, Function: function, Threads: 1}, machine.Device{Key: "here"})
	if err == nil {
		t.Cleanup(func() { b.Close() })
	}
	return b, err
}

// TestGuests: what becomes of functions of a Python file, good and bad. Each costs its own
// problem, in one line.
func TestGuests(t *testing.T) {
	needPython(t)
	const file = "testdata/guests/guests.py"
	p := problem.New(5, 3, 4, tile.Float32)
	for name, want := range map[string]string{
		"matmul": "", "prepares": "", "asks": "", "floods": "", "forks": "",
		"wrong":      "wrong: o[0, 1] is ",
		"nan":        "wrong: o[0, 1] is NaN",
		"remembers":  "wrong: ",
		"transposed": "run: transposed returns 4×5 float32, and o of 5×4 float32 is wanted",
		"integers":   "run: integers returns 5×4 int32, and o of 5×4 float32 is wanted",
		"nothing":    "run: nothing returns nothing (None), and an array of memoryview is wanted: o of 5×4 float32",
		"rows":       "run: rows returns a builtins.list, and an array of memoryview is wanted: o of 5×4 float32",
		"raises":     "run: guests.py:61: ValueError: two lines",
		"refuses":    "sizes are multiples of 128: unsupported",
		"leaves":     "run: guests.py:69: it calls sys.exit(3)",
		"exits":      "run: crashed: exit status 3; it said last: no licence found",
		"aborts":     "run: crashed: killed by signal 6 (aborted)",
		"closes":     "run: crashed: ",
		"hangs":      "run did not stop when told to, and its process was ended: ",

		"asks_people":   "run: guests.py:93: EOFError: EOF when reading a line",
		"wants_tensors": "matladder['wants_tensors'] asks for arrays of 'tensorflow' (known: jax, torch, numpy, memoryview)",
		"matmull":       "no function matmull in guests.py (there are matmul, prepares, asks, wrong, nan, remembers, transposed, integers)",
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			got := ""
			b, err := openGuest(t, ctx, file, name, p)
			if err == nil {
				var cancel context.CancelFunc
				limit := time.Minute
				if name == "hangs" {
					limit = 100 * time.Millisecond
				}
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
				for seed := range uint64(2) { // the second in the process of the first, if that is left
					r, failed := runSpec(ctx, b, backend.InputSpec{Problem: p, Seed: seed, Dist: check.Uniform})
					if err = failed; err != nil {
						break
					} else if !r.OK {
						got = cmp.Or(got, "wrong: "+r.Detail)
					}
				}
				if b.Signature() != "o = "+name+"(a, b)" {
					t.Error(b.Signature())
				}
			}
			if err != nil {
				got = err.Error()
			}
			if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "\n") {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if b, err := openGuest(t, t.Context(), file, "wants_bfloat16", problem.New(5, 3, 4, tile.BFloat16)); err != nil {
		t.Error(err)
	} else if _, err = b.Solve(t.Context(), backend.ProblemSpec{Problem: problem.New(5, 3, 4, tile.BFloat16)}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("bfloat16: %v", err)
	}
}

// TestGuests_Refused: a file that cannot be imported is told in one line.
func TestGuests_Refused(t *testing.T) {
	needPython(t)
	for name, want := range map[string]string{
		"nowhere.py":    "no such file: testdata/guests/nowhere.py",
		"needs.py":      "loading the file: needs.py needs the module no_such_module_at_all, which ",
		"unfinished.py": "loading the file: unfinished.py: line 2: invalid syntax",
		"older.py":      "loading the file: older.py:3: AttributeError: module 'os' has no attribute 'matmul' (python ",
		"leaves.py":     "loading the file: leaves.py:3: it calls sys.exit('not here')",
		"endless.py":    "loading the file did not stop",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if name == "endless.py" {
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		}
		_, err := openGuest(t, ctx, filepath.Join("testdata/guests", name), "matmul", problem.New(5, 3, 4, tile.Float32))
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	t.Setenv(PythonVariable, "nowhere/python3")
	if _, err := openGuest(t, t.Context(), "testdata/guests/guests.py", "matmul", problem.New(5, 3, 4, tile.Float32)); err == nil || !strings.Contains(err.Error(), `"nowhere/python3"`) {
		t.Error(err)
	}
}

// TestGuests_Frameworks: arrays of each framework in each dtype, and families with problems
// that the function is told of.
func TestGuests_Frameworks(t *testing.T) {
	for _, framework := range []string{"numpy", "jax", "torch"} {
		t.Run(framework, func(t *testing.T) {
			needPython(t, framework)
			for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
				p := problem.New(33, 70, 19, d)
				b, err := openGuest(t, t.Context(), "testdata/guests/"+framework+"_guest.py", "matmul", p)
				if err != nil {
					t.Fatal(err)
				}
				if _, version := b.Plugin(); !strings.Contains(version, " python 3.") || !strings.Contains(version, " "+framework+" ") {
					t.Error(version)
				}
				r, err := runSpec(t.Context(), b, backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform})
				if err != nil && strings.Contains(err.Error(), "pip install ml_dtypes") {
					continue
				}
				if err != nil || !r.OK {
					t.Errorf("%s: %+v, %v", d, r, err)
				}
			}
		})
	}
	t.Run("pallas", func(t *testing.T) {
		needPython(t, "jax")
		p := problem.New(128, 128, 128, tile.Float32)
		b, err := openGuest(t, t.Context(), "testdata/guests/jax_guest.py", "pallas", p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runSpec(t.Context(), b, backend.InputSpec{Problem: p, Dist: check.Uniform})
		if !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "--topology v5e,v6e predicts it") {
			t.Error(err)
		}
	})
}

// TestTriton: kernels as text become machine code of AMD's GPUs, and what is missing is told in a line.
func TestTriton(t *testing.T) {
	needPython(t, "triton")
	b, err := OpenTriton(t.Context(), machine.Device{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const empty = "module {\n  tt.func public @f() {\n    tt.return\n  }\n}"
	for _, arch := range []string{"gfx942", "gfx950"} {
		text, err := b.CompileTriton(t.Context(), empty, arch, 4, 2)
		if err != nil || !strings.Contains(text, arch) || !strings.Contains(text, "s_endpgm") {
			t.Errorf("%s: %v: %.200s", arch, err, text)
		}
	}
	t.Setenv(PythonVariable, "/nonexistent/python3")
	if _, err := OpenTriton(t.Context(), machine.Device{}); err == nil || !strings.Contains(err.Error(), PythonVariable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without Python: %v", err)
	}
}
