//go:build linux

package process

import (
	"context"
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
)

// script writes the Python program.
func script(t *testing.T) string {
	t.Helper()
	path, err := Program(context.Background(), t.TempDir(), kindTorch)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

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
			if err != nil || !r.OK {
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

// TestTorch_NoPython: what an interpreter without PyTorch says is one line.
func TestTorch_NoPython(t *testing.T) {
	l := Library{Name: "torch", Path: "nowhere/torch", kind: kindTorch, python: "nowhere/python3"}
	_, err := Open(context.Background(), Options{Program: script(t), Library: l, Threads: 1})
	if err == nil || !strings.Contains(err.Error(), "nowhere/python3") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
