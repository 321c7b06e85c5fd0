package aot

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"matladder/backend"
	"matladder/backend/internal/hlo"
)

// TestCache_Verdicts: what libtpu says of a program is the same error when it
// comes from the disk, and what it may say otherwise another time is not kept.
func TestCache_Verdicts(t *testing.T) {
	c, err := openCache(t.TempDir(), "libtpu 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{
		"E1001: Scoped allocation with size 16.06M and limit 16.00M exceeded scoped vmem limit by 64.0K.",
		"Mosaic failed to compile TPU kernel: Bad lhs type",
		"Failed to parse the Mosaic module: -:3:7: error: expected SSA operand",
	} {
		want := Classify(13, message)
		o, ok := outcomeOf(want)
		if !ok {
			t.Fatalf("%v is not kept", want)
		}
		file := c.file("v5e:2x2", message, nil)
		c.write(file, o)
		back, ok := c.read(file)
		if have := libtpuMaker.err(back); !ok || have.Error() != want.Error() ||
			errors.Is(have, backend.ErrUnsupported) != errors.Is(want, backend.ErrUnsupported) {
			t.Errorf("%v, kept as %v", want, have)
		}
		var big, kept *backend.TooBigError
		if errors.As(want, &big) && (!errors.As(libtpuMaker.err(back), &kept) || *kept != *big) {
			t.Errorf("%v, kept as %v", big, kept)
		}
	}
	for _, err := range []error{&CrashError{Reason: "gone"}, &CrashError{Reason: "slow", Timeout: true}, os.ErrPermission} {
		if o, ok := outcomeOf(err); ok {
			t.Errorf("%v is kept as %+v", err, o)
		}
	}
}

// TestCache_Keys: an outcome is found by all that it depends on, and by no less.
func TestCache_Keys(t *testing.T) {
	dir := t.TempDir()
	one, _ := openCache(dir, "libtpu 1")
	two, _ := openCache(dir, "libtpu 2")
	file := one.file("v5e:2x2", "program", nil)
	for _, other := range []string{one.file("v4:2x2x1", "program", nil), one.file("v5e:2x2", "another", nil), two.file("v5e:2x2", "program", nil), one.file("v5e:2x2program", "", nil), one.file("v5e:2x2", "program", hlo.Options{"a": true})} {
		if other == file {
			t.Errorf("%s twice", file)
		}
	}
	if again, _ := openCache(dir, "libtpu 1"); again.file("v5e:2x2", "program", nil) != file {
		t.Error("another key for the same")
	}
}

// TestCache_Shared: writers and readers at the same time see whole outcomes, and a
// damaged one is as none.
func TestCache_Shared(t *testing.T) {
	c, err := openCache(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{Status: compiles, Parts: []part{{Kernel: strings.Repeat("long", 1<<12), Steps: 3, Cycles: 2.5, In: -1}}}
	file := c.file("v5e:2x2", "program", nil)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				c.write(file, want)
				if have, ok := c.read(file); !ok || !reflect.DeepEqual(have, want) {
					t.Error("not what was written")
				}
			}
		})
	}
	wait.Wait()
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	for _, text := range []string{"", "{", `{"Parts":null}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.read(file); ok {
			t.Errorf("%q is an outcome", text)
		}
	}
}

// TestCache_NoFolder: where nothing can be kept that is told once, and all goes on.
func TestCache_NoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := openCache(filepath.Join(file, "below"), "")
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a folder below a file: %v", err)
	}
	c.write(c.file("v5e:2x2", "program", nil), outcome{Status: compiles})
	if _, ok := c.read(c.file("v5e:2x2", "program", nil)); ok {
		t.Error("kept nowhere, and found")
	}
}
