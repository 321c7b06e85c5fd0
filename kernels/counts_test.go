package kernels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/analyze"
	"matladder/internal/golden"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

const (
	countsBegin = "<!-- counts:begin -->\n"
	countsEnd   = "<!-- counts:end -->\n"
)

// TestREADME_Counts holds the table of counts in each kernel's README true.
func TestREADME_Counts(t *testing.T) {
	for _, k := range kernels.All {
		path := filepath.Join(k.Name(), "README.md")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(text), countsBegin)
		_, after, ok2 := strings.Cut(rest, countsEnd)
		if !ok1 || !ok2 {
			t.Errorf("%s: no marks around a table of counts: it needs the lines %s and %s, each once; -update then fills in what is between", path, strings.TrimSpace(countsBegin), strings.TrimSpace(countsEnd))
			continue
		}
		golden.Assert(t, path, []byte(before+countsBegin+countsTable(t, k)+countsEnd+after))
	}
}

// countsTable counts kernel k on float32, two programs at once.
func countsTable(t *testing.T, k kernels.Kernel) string {
	var s strings.Builder
	s.WriteString("| m = k = n | blocks | grid steps | MB moved | MB at least | FLOPs per byte moved | fast memory |\n")
	s.WriteString("| ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, n := range []int{1024, 4096} {
		p := problem.New(n, n, n, tile.Float32)
		for _, b := range k.Candidates(p, tile.Machine{Parallel: 2}) {
			programs, err := k.Build(p, "", b)
			if err != nil {
				t.Fatal(err)
			}
			c, err := analyze.Count(programs)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&s, "| %d | %s | %d | %.1f | %.1f | %.1f | %s |\n", n, b, c.GridSteps,
				float64(c.BytesMoved)/1e6, float64(c.BytesMin)/1e6, c.Intensity(), size(c.FastBytes))
		}
	}
	return s.String()
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
