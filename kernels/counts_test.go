package kernels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/model"
	"matladder/problem"
)

const (
	countsBegin = "<!-- counts:begin -->\n"
	countsEnd   = "<!-- counts:end -->\n"
)

// TestREADME_Counts holds the table of counts in each kernel's README true.
func TestREADME_Counts(t *testing.T) {
	for _, k := range kernels.All {
		path := filepath.Join(k.Name(), "README.md")
		if k.Family() != problem.Families()[0] {
			path = filepath.Join(k.Family().Name, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(text), countsBegin)
		_, after, ok2 := strings.Cut(rest, countsEnd)
		if !ok1 && k.Family().Figure == problem.PerFLOPs && k.Family() != problem.MatmulFamily {
			continue // of more sizes than one number tells
		}
		if !ok1 || !ok2 {
			t.Errorf("%s: no marks around a table of counts: it needs the lines %s and %s, each once; -update then fills in what is between", path, strings.TrimSpace(countsBegin), strings.TrimSpace(countsEnd))
			continue
		}
		goldentest.Assert(t, path, []byte(before+countsBegin+countsTable(t, k)+countsEnd+after))
	}
}

// countsTable counts kernel k on float32, or what it takes, two programs at once.
func countsTable(t *testing.T, k kernels.Kernel) string {
	var s strings.Builder
	f := k.Family()
	asked, err := f.Parse("float32")
	if err == nil && k.Supports(f.Make(f.Sample, asked)) != nil {
		asked, err = f.Parse("mxfp8")
	}
	if err != nil {
		t.Fatal(err)
	}
	names, perByte := strings.ReplaceAll(f.Form(), "×", " = "), "FLOPs per byte moved"
	if f.Figure == problem.PerBytes {
		perByte = "least over moved"
	}
	fmt.Fprintf(&s, "| %s | blocks | grid steps | MB moved | MB at least | %s | fast memory |\n", names, perByte)
	s.WriteString("| ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, n := range []int{1024, 4096} {
		p := f.Make(f.Equal(n), asked)
		for _, b := range k.Candidates(p, problem.Machine{Parallel: 2}) {
			programs, err := k.Build(p, "", b)
			if err != nil {
				t.Fatal(err)
			}
			c, err := model.Count(programs)
			if err != nil {
				t.Fatal(err)
			}
			least, intensity := float64(c.BytesMin), fmt.Sprintf("%.1f", c.Intensity())
			if f.Figure == problem.PerBytes {
				least = float64(p.Bytes())
				intensity = fmt.Sprintf("%.2f", least/float64(c.BytesMoved))
			}
			fmt.Fprintf(&s, "| %d | %s | %d | %.1f | %.1f | %s | %s |\n", n, b, c.GridSteps,
				float64(c.BytesMoved)/1e6, least/1e6, intensity, size(c.FastBytes))
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
