// Realkernels writes docs/real-kernels.md: kernels that other people wrote, unchanged, predicted
// for TPUs that are not here, or why not.
//
//	python3 -m venv /tmp/real && /tmp/real/bin/pip install -r tools/pallasref/requirements.txt -r tools/pallasref/requirements_tokamax.txt
//	go run ./cmd/plugin install tpu
//	go run ./tools/realkernels --python /tmp/real/bin/python > docs/real-kernels.md
//
// export.py beside it has the kernels, their shapes, and what is assumed of loops that data decides.
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
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

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
	return cli.End("realkernels", write(ctx, args, stdout, stderr), "", stderr)
}

// A row is what export.py says of a kernel for one chip.
type row struct {
	Name, Origin, Topology string
	Shapes                 []string
	Assume                 map[string]string
	File, Refused          string
}

func write(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	python, topologies := "", []string{"v4", "v5e", "v5p", "v6e", "v7x"}
	f := cli.NewFlags("realkernels")
	f.StringVar(&python, "python", "python3", "`PROGRAM` that has jax and tokamax")
	f.StringSliceVar(&topologies, "topology", topologies, "`CHIPS` joined by commas")
	if err := cli.ParseOrHelp(f, args, stdout, "Realkernels predicts kernels that other people wrote.\n\nusage: realkernels [flags]"); err != nil {
		return err
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
	var names []string
	cells, about, seen := map[[2]string]string{}, map[string]row{}, map[string]bool{}
	var accepted, predicted int
	var notes bytes.Buffer
	for scanner := bufio.NewScanner(bytes.NewReader(lines)); scanner.Scan(); {
		var r row
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return fmt.Errorf("export.py: %w", err)
		}
		if about[r.Name].Name == "" {
			names, about[r.Name] = append(names, r.Name), r
		}
		cell, reason, err := predict(ctx, r)
		if err != nil {
			return err
		}
		if cell != "" {
			predicted++
		} else {
			cell = "—"
			if said := r.Name + reason; !seen[said] {
				seen[said] = true
				fmt.Fprintf(&notes, "- %s, %s: %s\n", r.Name, r.Topology, reason)
			}
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

Kernels of JAX and tokamax, unchanged, and layers in plain JAX, exported for chips that are not
here and predicted by ` + "`inspect`" + ` ([any-kernel.md](any-kernel.md)): the time of a launch and its band.
A dash has its reason below. Where data decides how often a loop runs, the trips are those of full
and equal groups, sequences and pages, by the kernel's own grid.
`

// refused begins the reason of a program that the compiler does not take.
const refused = "libtpu: "

// predict returns the cell of a kernel, or why there is none.
func predict(ctx context.Context, r row) (cell, reason string, err error) {
	if r.Refused != "" {
		return "", "JAX: " + r.Refused, nil
	}
	text, err := os.ReadFile(r.File)
	if err != nil {
		return "", "", err
	}
	var texts []string
	for name, trips := range r.Assume {
		texts = append(texts, name+"="+trips)
	}
	slices.Sort(texts)
	assume, err := aot.ParseAssumptions(texts)
	if err != nil {
		return "", "", err
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: r.Topology, Options: aot.Options{Parallel: 1, Foreign: true, Assume: assume}})
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	kernels, err := b.Program(ctx, string(text), false)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.As(err, new(*aot.AssumeError)):
		return "", err.Error(), nil
	case err != nil:
		return "", refused + strings.TrimPrefix(err.Error(), refused), nil
	}
	for _, k := range kernels {
		if k.Unsupported != "" {
			return "", k.Step.Kernel + ": " + k.Unsupported, nil
		}
	}
	sum := b.Sum(kernels)
	return fmt.Sprintf("%s (%s … %s)", stats.FormatSeconds(sum.Elapsed.Seconds()), stats.FormatSeconds(sum.Low.Seconds()), stats.FormatSeconds(sum.High.Seconds())), "", nil
}
