package inspect

import (
	"bytes"
	"strings"
	"testing"

	"matladder/model/anatomy"
)

// TestAnatomy: each step has its loops, its innermost one and its limit; other kernels have none.
func TestAnatomy(t *testing.T) {
	isa := ""
	if _, known := anatomy.CoreOf("avx2"); known {
		isa = "avx2"
	}
	var out, wrong bytes.Buffer
	if status := Run(t.Context(), []string{"v4", "--as", "anatomy", "--sizes", "192", "--blocks", "64x64x64", "--param", "isa=" + isa}, &out, &wrong); status != 0 {
		if strings.Contains(wrong.String(), "lacks") {
			t.Skip(wrong.String())
		}
		t.Fatal(status, wrong.String())
	}
	parts := strings.Split(out.String(), "\n\n")[1:]
	if len(parts) != len(anatomy.Steps) {
		t.Fatalf("%d parts:\n%s", len(parts), out.String())
	}
	for i, part := range parts {
		for _, want := range []string{anatomy.Steps[i].Name, "passes=" + anatomy.Steps[i].Word, "\nloops", "\ninner", "\ncounts", "\nlimit"} {
			if !strings.Contains(part, want) {
				t.Errorf("step %d has no %q:\n%s", i+1, want, part)
			}
		}
		if blocks := strings.Contains(part, "192x192x192"); blocks != (i < anatomy.Blocking) {
			t.Errorf("step %d:\n%s", i+1, part)
		}
	}
	for _, args := range [][]string{{"v1"}, {"softmax/2"}} {
		wrong.Reset()
		if status := Run(t.Context(), append(args, "--as", "anatomy"), &out, &wrong); status != 1 || !strings.Contains(wrong.String(), "blocks of a choice") {
			t.Errorf("%v: %d, %s", args, status, wrong.String())
		}
	}
}
