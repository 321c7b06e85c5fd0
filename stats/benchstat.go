package stats

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// WriteBenchstat writes the samples behind the summaries in the Go benchmark
// format, one line a sample, so that benchstat can compare two files:
//
//	BenchmarkMatmul/kernel=v4_optblock/blocks=128x128x128/dtype=float32/size=512x512x512 20 0.00123 sec/op 2.18e+11 FLOP/s
//
// A loop has a sample a round, its slope. What is the same for a machine is configuration. Points
// without a time are left out, as the format has no place for them.
func WriteBenchstat(w io.Writer, summaries []Summary) error {
	out := benchfmt.NewWriter(w)
	for i := range summaries {
		s := &summaries[i]
		if !s.usable() {
			continue
		}
		for _, seconds := range s.timing.samples {
			if !(seconds > 0) {
				continue // a slope lost in noise; the median is positive all the same
			}
			err := out.Write(&benchfmt.Result{
				Config: benchConfig(s),
				Name:   benchmarkName(s),
				Iters:  max(s.Launches, 1),
				Values: []benchfmt.Value{
					{Value: seconds, Unit: "sec/op"},
					{Value: s.Work() / seconds, Unit: s.RateOf().PerSecond()},
				},
			})
			if err != nil {
				return fmt.Errorf("results: write samples: %w", err)
			}
		}
	}
	return nil
}

func benchConfig(s *Summary) []benchfmt.Config {
	var list []benchfmt.Config
	for _, c := range [...]struct{ key, value string }{
		{"pkg", "matladder"},
		{"matladder-version", s.MatladderVersion},
		{"host", s.Host},
		{"backend", s.Backend},
		{"device", s.Device},
		{"chip", s.Chip},
		{"plugin", strings.TrimSpace(s.Plugin + " " + s.PluginVersion)},
		{"mode", string(s.Mode)},
		{"method", string(s.Method)},
	} {
		if value := oneLine(c.value); value != "" {
			list = append(list, benchfmt.Config{Key: c.key, Value: []byte(value), File: true})
		}
	}
	return list
}

// benchmarkName ends in the size: a trailing -8 would read as GOMAXPROCS.
func benchmarkName(s *Summary) benchfmt.Name {
	family := s.FamilyName()
	name := strings.ToUpper(family[:1]) + family[1:]
	for _, part := range [...]struct{ key, value string }{
		{"kernel", s.Kernel},
		{"variant", s.Variant},
		{"blocks", s.Blocks()},
		{"params", s.Params},
		{"isa", s.ISA},
		{"threads", positive(s.Threads)},
		{"pin", s.Pin},
		{"cache", s.Cache},
		{"fault", s.Fault},
		{"operands", s.Operands},
		{"dist", s.Dist},
		{"load", s.LoadWord()},
		{"precision", s.Precision},
		{"quant", s.Quant},
		{"activation", s.Activation},
		{"options", s.Options},
		{"dtype", s.Dtypes()},
		{"batch", positive(s.Batch)},
		{"size", s.Sizes()},
	} {
		if part.value != "" && !(part.key == "batch" && s.Batch == 1) {
			name += "/" + part.key + "=" + namePart.Replace(oneLine(part.value))
		}
	}
	return benchfmt.Name(name)
}

// namePart keeps a value from being cut at a space or a slash.
var namePart = strings.NewReplacer(" ", "_", "/", "_", "×", "x", "→", "-to-")
