package plot

import (
	"os"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/kernels/doublingtest"
	"matladder/results"
)

func TestMain(m *testing.M) {
	doublingtest.Hook()
	os.Exit(m.Run())
}

// TestFamily: rows of a problem family that is registered are drawn, in its own figure,
// beside those of others; and of one that nobody knows, pictures are drawn all the same.
func TestFamily(t *testing.T) {
	doublingtest.Run(t, func(t *testing.T) {
		workplace(t)
		for _, family := range []string{doublingtest.Family, "unheard_of"} {
			var rows []results.Record
			for round := range 6 {
				for i, shape := range []string{"items=64,parts=64", "items=128,parts=128", "items=9,parts=5"} {
					rows = append(rows, results.Record{
						Schema: results.Schema, Family: family, Shape: shape, Figure: results.PerBytes, Backend: "cpu", Device: "a machine",
						Kernel: "v1_twice", Mode: results.Measured, Method: results.Direct, Status: results.OK, DtypeA: "float32", DtypeOut: "float32",
						BM: 8, Round: round, Launches: 1, Seconds: 1e-5 + float64(round+i)*1e-7, BytesMin: 1 << 15, BytesMoved: 1 << 16, FLOPs: 1 << 12,
						Bandwidth: 1e10, GridSteps: 8,
					})
				}
			}
			var text strings.Builder
			if err := results.Write(&text, rows); err != nil {
				t.Fatal(err)
			}
			write(t, family+".csv", text.String())
			code, stdout, stderr := plot("--input", family+".csv", "--kind", "size,kernels,ladder,roofline,blocks", "--format=svg")
			for _, want := range []string{"kernel_1_float32.svg", "kernel_1_float32_shapes.svg", "kernels_float32.svg", "ladder_float32.svg", "roofline_float32.svg", "blocks_1_float32.svg"} {
				if code != cli.OK || !strings.Contains(stdout, "performance_"+family+"_"+want+"\n") {
					t.Errorf("exit %d, no %s in\n%s\n%s", code, want, stdout, stderr)
				}
			}
			if code, stdout, stderr := plot("--input", family+".csv", "--table", "text"); code != cli.OK || !strings.Contains(stdout, "GB/s") || !strings.Contains(stdout, "% of bandwidth") {
				t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
			}
			if code, _, stderr := plot("--input", family+".csv", "--html", "page.html"); code != cli.OK {
				t.Errorf("exit %d: %s", code, stderr)
			}
		}
		if code, stdout, stderr := plot("--input", "*.csv", "--analyze", "doubling/1"); code != cli.OK || strings.Contains(stdout, "unheard") {
			t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
		}
	})
}
