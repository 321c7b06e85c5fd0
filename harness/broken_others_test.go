//go:build linux

package harness

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/backend/foreign/process"
	"matladder/internal/ccompilertest"
	"matladder/internal/thoroughtest"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// letters are a vice as testdata/vices.c reads it, which counts calls.
func letters(vice backendtest.Vice) string {
	text := make([]byte, 200)
	for i := range text {
		switch vice(i + 1) {
		case "":
			text[i] = 'r'
		case backendtest.Idle:
			text[i] = 'i'
		default:
			text[i] = 'w'
		}
	}
	return string(text)
}

// TestRun_BrokenOthers measures what is no backend of kernels, and goes wrong now and
// then: a library in a process of its own, a function of one's own in Go and in C.
func TestRun_BrokenOthers(t *testing.T) {
	folder := t.TempDir()
	shared := filepath.Join(folder, "libopenblas.so.0")
	ccompilertest.Shared(t, shared, "testdata/vices.c")
	program, err := process.Build(t.Context(), folder)
	if errors.Is(err, process.ErrNoCompiler) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	mine := foreign.Function{Name: "mine", Family: problem.MatmulFamily}
	if mine.Asked, err = problem.MatmulFamily.Parse("float32"); err == nil {
		mine.Asked, err = problem.MatmulFamily.Complete(mine.Asked)
	}
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func(vice backendtest.Vice) (backend.Backend, error){
		"library": func(backendtest.Vice) (backend.Backend, error) {
			return process.Open(t.Context(), process.Options{Program: program, Library: process.Find("openblas", []string{folder})[0], Threads: 1, Host: machine.Device{Key: "here"}})
		},
		"function in C": func(backendtest.Vice) (backend.Backend, error) {
			if err := library.Available(); err != nil {
				t.Skip(err)
			}
			return library.Open(t.Context(), mine, library.Library{File: shared, Symbol: "own_gemm", Threads: 1}, machine.Device{})
		},
		"function in Go": func(vice backendtest.Vice) (backend.Backend, error) {
			calls := 0
			call := func(sizes []int, arrays []tile.Tensor) error {
				calls++
				if v := vice(calls); v == backendtest.Idle {
					return nil
				} else if v != "" {
					defer func() { arrays[2].Set(0, 1-arrays[2].At(0)) }()
				}
				m, k, n := sizes[0], sizes[1], sizes[2]
				a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
				for i := range m {
					for j := range n {
						sum := float32(0)
						for l := range k {
							sum += a[i*k+l] * b[l*n+j]
						}
						o[i*n+j] = sum
					}
				}
				return nil
			}
			return library.New(mine, call, machine.Device{})
		},
	}
	run := thoroughtest.Choose(1, 1, 7)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		open := kinds[kind]
		for _, name := range slices.Sorted(maps.Keys(backendtest.Vices)) {
			if !run() {
				continue
			}
			vice := backendtest.Vices[name]
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Setenv("VICES", letters(vice))
				be, err := cpu.Open(cpu.Options{Threads: 2, NoProbe: true})
				if err != nil {
					t.Fatal(err)
				}
				defer be.Close()
				other, err := open(vice)
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				c, err := Parse("broken.yaml", []byte("sizes: [16x24x40]\ndtypes: [float32]\nkernels: [1]\nrounds: {min: 1, max: 1}\n"))
				if err != nil {
					t.Fatal(err)
				}
				s, err := Plan(t.Context(), c, be.Device(), backend.Params{})
				if err != nil {
					t.Fatal(err)
				}
				s.Compare(other.(Peer))
				out, err := Run(t.Context(), s, Options{Backend: be, Out: filepath.Join(t.TempDir(), "rows.csv"), Provenance: Provenance{RunID: "test"}})
				if err != nil {
					t.Fatal(err)
				}
				rows := 0
				for _, r := range out.Rows {
					if r.Kernel != other.Name() {
						continue
					}
					rows++
					if want := name == "right"; want != (r.Status == results.OK) || !want && r.Status != results.Wrong {
						t.Errorf("%s: %s", r.Status, r.Reason)
					}
				}
				if rows == 0 {
					t.Error("no rows")
				}
			})
		}
	}
}
