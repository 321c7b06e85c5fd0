//go:build linux

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
)

// testFamilies runs what a library is asked for of all families but matmul.
func testFamilies(t *testing.T, b *Backend) {
	computed := map[string]int{}
	for _, family := range problem.Families()[1:] {
		for _, words := range append(append([]string(nil), family.Dtypes...), family.Examples...) {
			asked, err := family.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			spec := backend.InputSpec{Problem: family.Make(family.Sample, asked), Seed: 3, Dist: check.Uniform}
			r, err := runOn(b, spec, "", "")
			if errors.Is(err, backend.ErrUnsupported) {
				t.Logf("%s %s: %v", family.Name, words, err)
				continue
			}
			computed[family.Name]++
			if strings.HasSuffix(words, "float32:gelu") && err == nil && !r.OK {
				t.Logf("%s %s: 1 + erf cancels in PyTorch's float32 tails: %s", family.Name, words, r.Detail)
			} else if err != nil || !r.OK {
				t.Errorf("%s %s: %+v, %v", family.Name, words, r, err)
			}
			if r, err := runOn(b, spec, "", check.FaultZeros); err != nil || r.OK {
				t.Errorf("%s %s with zeros: %+v, %v", family.Name, words, r, err)
			}
		}
	}
	for _, name := range b.has {
		if computed[name] == 0 {
			t.Errorf("nothing of %s was computed", name)
		}
	}
}

// TestFind_Torch: the interpreter is that of the environment that has PyTorch.
func TestFind_Torch(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"bin", "lib/python3.11/site-packages/torch"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	python := filepath.Join(root, "bin", "python3")
	if err := os.WriteFile(python, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := Find("torch", []string{filepath.Join(root, "lib")})
	if len(found) == 0 || found[0].python != python {
		t.Errorf("%+v", found)
	}
}

// TestTorch_NoPython: what an interpreter without PyTorch says is one line.
func TestTorch_NoPython(t *testing.T) {
	l := Library{Name: "torch", Path: "nowhere/torch", kind: kindTorch, python: "nowhere/python3"}
	_, err := Open(context.Background(), Options{Library: l, Threads: 1})
	if err == nil || !strings.Contains(err.Error(), "nowhere/python3") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
