// Realkernels writes docs/real-kernels.md: kernels that other people wrote, unchanged, predicted
// for TPUs without one, or why not.
//
//	python3 -m venv /tmp/real && /tmp/real/bin/pip install -r tools/pallasref/requirements.txt -r tools/pallasref/requirements_tokamax.txt
//	/tmp/real/bin/pip install --no-deps tpu-inference==0.32.0
//	go run ./cmd/plugin install tpu
//	go run ./tools/realkernels --python /tmp/real/bin/python > docs/real-kernels.md
//	go run ./tools/realkernels --python /tmp/real/bin/python --published model/testdata/attention_published.csv
//
// The last holds predictions to published times, row by row. export.py beside it has the kernels, their shapes, and what is assumed of loops that data decides.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/registry/builtin"
	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/stats"
)

//go:embed export.py
var script string

func main() {
	builtin.Hook()
	cli.Main("realkernels", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("realkernels", write(ctx, args, stdout, stderr), "", stdout, stderr)
}

// A row is what export.py says of a kernel for one chip.
type row struct {
	Name, Origin, Topology string
	Shapes                 []string
	Assume                 map[string]string
	File, Refused          string
	Published              map[string]string // of a row of published times
}

func write(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	python, published, topologies := "", "", []string{"v4", "v5e", "v5p", "v6e", "v7x"}
	f := cli.NewFlags("realkernels")
	f.StringVar(&python, "python", "python3", "`PROGRAM` that has jax and tokamax")
	f.StringSliceVar(&topologies, "topology", topologies, "`CHIPS` joined by commas")
	f.StringVar(&published, "published", "", "`FILE` of published times of tokamax' attention to hold predictions to")
	if err := cli.Parse(f, args, "Realkernels predicts kernels that other people wrote.\n\nusage: realkernels [flags]"); err != nil {
		return err
	}
	if published != "" {
		topologies = []string{published}
	}
	folder, err := os.MkdirTemp("", "realkernels-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	exports := exec.CommandContext(ctx, python, append([]string{"-", folder}, topologies...)...)
	exports.Stdin, exports.Stderr, exports.Env = strings.NewReader(script), stderr, append(os.Environ(), "JAX_PLATFORMS=cpu")
	lines, err := exports.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	var rows []row
	for scanner := bufio.NewScanner(bytes.NewReader(lines)); scanner.Scan(); {
		var r row
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return fmt.Errorf("export.py: %w", err)
		}
		rows = append(rows, r)
	}
	if published != "" {
		return hold(ctx, rows, stdout)
	}
	return page(ctx, rows, topologies, stdout, stderr)
}

// hold writes predictions beside published times.
func hold(ctx context.Context, rows []row, stdout io.Writer) error {
	fmt.Fprintln(stdout, "| chip | batch × length × heads × columns | predicted ms | band | published ms | error |\n|---|---|---|---|---|---|")
	var errs []float64
	inside := 0
	for _, r := range rows {
		sum, reason, err := predict(ctx, r)
		if err != nil {
			return err
		}
		about := fmt.Sprintf("| %s | %s × %s × %s × %s |", r.Topology, r.Published["batch"], r.Published["length"], r.Published["heads"], r.Published["columns"])
		published, err := strconv.ParseFloat(r.Published["time_ms"], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", about, err)
		}
		if reason != "" {
			fmt.Fprintf(stdout, "%s — (%s) | | %.4g | |\n", about, reason, published)
			continue
		}
		ms, low, high := 1e3*sum.Elapsed.Seconds(), 1e3*sum.Low.Seconds(), 1e3*sum.High.Seconds()
		off := ms/published - 1
		errs = append(errs, math.Abs(off))
		if low <= published && published <= high {
			inside++
		}
		fmt.Fprintf(stdout, "%s %.4g | %.4g … %.4g | %.4g | %+.1f %% |\n", about, ms, low, high, published, 100*off)
	}
	if slices.Sort(errs); len(errs) > 0 {
		fmt.Fprintf(stdout, "\nMedian error %.1f %%, largest %.1f %%; %d of %d inside their bands.\n", 100*errs[len(errs)/2], 100*errs[len(errs)-1], inside, len(rows))
	}
	return nil
}

// page writes what is predicted of each kernel for each chip.
func page(ctx context.Context, rows []row, topologies []string, stdout, stderr io.Writer) error {
	var names []string
	cells, about, seen := map[[2]string]string{}, map[string]row{}, map[string]bool{}
	var accepted, predicted int
	var notes bytes.Buffer
	for _, r := range rows {
		if about[r.Name].Name == "" {
			names, about[r.Name] = append(names, r.Name), r
		}
		sum, reason, err := predict(ctx, r)
		if err != nil {
			return err
		}
		cell := "—"
		if reason == "" {
			predicted++
			cell = fmt.Sprintf("%s (%s … %s)", stats.FormatSeconds(sum.Elapsed.Seconds()), stats.FormatSeconds(sum.Low.Seconds()), stats.FormatSeconds(sum.High.Seconds()))
		} else if said := r.Name + reason; !seen[said] {
			seen[said] = true
			fmt.Fprintf(&notes, "- %s, %s: %s\n", r.Name, r.Topology, reason)
		}
		if r.Refused == "" && !strings.HasPrefix(reason, refused) {
			accepted++
		}
		cells[[2]string{r.Name, r.Topology}] = cell
		fmt.Fprintf(stderr, "%s %s: %s %s\n", r.Name, r.Topology, cell, reason)
	}
	fmt.Fprintf(stdout, "%s\nPredicted %s by `go run ./tools/realkernels`: %d of the %d programs that JAX exports and libtpu compiles. Nothing was run.\n\n",
		head, time.Now().UTC().Format(time.DateOnly), predicted, accepted)
	fmt.Fprintf(stdout, "| kernel | %s |\n|---|%s\n", strings.Join(topologies, " | "), strings.Repeat("---|", len(topologies)))
	for _, name := range names {
		line := "| " + name
		for _, t := range topologies {
			line += " | " + cells[[2]string{name, t}]
		}
		fmt.Fprintln(stdout, line+" |")
	}
	fmt.Fprint(stdout, "\n## Shapes and assumptions\n\n| kernel | of | inputs | loops that data decides, on one core |\n|---|---|---|---|\n")
	for _, name := range names {
		r := about[name]
		var assumed []string
		for loop, trips := range r.Assume {
			assumed = append(assumed, "`"+loop+"="+trips+"`")
		}
		slices.Sort(assumed)
		fmt.Fprintf(stdout, "| %s | %s | %s | %s |\n", name, r.Origin, strings.Join(r.Shapes, ", "), strings.Join(assumed, ", "))
	}
	if notes.Len() > 0 {
		fmt.Fprintf(stdout, "\n## Without a prediction\n\n%s", notes.String())
	}
	return nil
}

const head = `# Kernels that other people wrote, predicted

Predicted times of unchanged kernels from JAX, tokamax and tpu-inference, and of layers in plain JAX, on five TPUs. A cell has
the time of a launch and its band, by ` + "`inspect`" + `; [guests.md](guests.md) says what they rest on. No TPU was used.
A dash has its reason below. Where data decides how often a loop runs, the trips assume full and equal
groups, sequences and pages, by the kernel's own grid.
`

// refused begins the reason of a program that the compiler does not take.
const refused = "libtpu: "

// predict predicts a launch of a kernel, or says why not.
func predict(ctx context.Context, r row) (sum backend.Prediction, reason string, err error) {
	if r.Refused != "" {
		return sum, "JAX: " + r.Refused, nil
	}
	text, err := os.ReadFile(r.File)
	if err != nil {
		return sum, "", err
	}
	var texts []string
	for name, trips := range r.Assume {
		texts = append(texts, name+"="+trips)
	}
	slices.Sort(texts)
	assume, err := aot.ParseAssumptions(texts)
	if err != nil {
		return sum, "", err
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: r.Topology, Options: aot.Options{Parallel: 1, Foreign: true, Assume: assume}})
	if err != nil {
		return sum, "", err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	kernels, err := b.Program(ctx, string(text), false)
	switch {
	case ctx.Err() != nil:
		return sum, "", ctx.Err()
	case errors.As(err, new(*aot.AssumeError)):
		return sum, err.Error(), nil
	case err != nil:
		return sum, refused + strings.TrimPrefix(err.Error(), refused), nil
	}
	for _, k := range kernels {
		if k.Unsupported != "" {
			return sum, k.Step.Kernel + ": " + k.Unsupported, nil
		}
	}
	return b.Sum(kernels), "", nil
}
