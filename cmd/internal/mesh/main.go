// Package mesh is command mesh: it searches for the fastest mesh for a layer of a transformer.
package mesh

import (
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/model/layer"
)

// options is what the command line asks for, checked.
type options struct {
	ask  layer.Ask
	only mesh.Mesh
	top  int
	as   string
}

// Run is the program: the table goes to stdout, mistakes to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if err == nil {
		err = o.search(ctx, stdout)
	}
	return cli.End("mesh", err, "interrupted", stdout, stderr)
}

//go:embed manual.txt
var manual string

func parse(args []string) (o options, err error) {
	f := cli.NewFlags("mesh")
	names := each.Of(layer.All, func(l layer.Layer) string { return l.Name })
	topology := f.String("topology", "", "`SLICE` of a pod: a chip and its chips along each dimension (v5e:16x16, v5p:8x8x8), or a chip for a whole pod")
	name := f.String("layer", "", "`LAYER` of a model")
	cli.Known(f, "layer", names)
	phase := f.String("phase", string(layer.Prefill), "`PHASE`: train (forward and backward), prefill (prompts) or decode (one new token of each sequence)")
	cli.Offer(f, "phase", []string{"train", "prefill", "decode"})
	tokens := f.Int("tokens", 0, "`N` tokens that go through the layer together, instead of --sequences")
	f.IntVar(&o.ask.Sequences, "sequences", 0, "`N` sequences in the batch (default one for each device)")
	f.IntVar(&o.ask.Length, "length", 8192, "`N` tokens of a sequence; of those that decode, tokens in the cache")
	cli.Group(f, "WHAT TO PREDICT")
	one := f.String("mesh", "", "look at one `MESH` alone, such as data=16,model=16, and at every way to spread the layer over it")
	f.IntVar(&o.top, "top", 10, "show the first `N`")
	f.StringVar(&o.as, "as", "text", "`VIEW`")
	cli.Known(f, "as", []string{"text", "csv"})
	cli.Alias(f, "format", "as")
	cli.Group(f, "WHAT TO SHOW")
	if err := cli.Parse(f, args, manual); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, cli.Misuse(f, "%q is one argument too many", f.Arg(0))
	case *topology == "":
		return o, cli.Misuse(f, "--topology is missing: for which slice of a pod, such as --topology v5e:16x16")
	case *name == "":
		return o, cli.Misuse(f, "--layer is missing: of which model (%s)", strings.Join(names, ", "))
	case o.top < 1:
		return o, cli.Usagef("--top = %d: must be at least 1", o.top)
	case o.as != "text" && o.as != "csv":
		return o, cli.Usagef("--as: unknown %q, known are text, csv", o.as)
	case f.Changed("tokens") && f.Changed("sequences"):
		return o, cli.Usagef("--tokens and --sequences say the same: leave one out")
	}
	if o.ask.Chip, o.ask.Sides, err = model.FindSlice(*topology); err != nil {
		return o, cli.Usagef("--topology: %w", err)
	}
	if o.ask.Layer, err = layer.Find(*name); err != nil {
		return o, cli.Usagef("--layer: %w", err)
	}
	if o.ask.Phase, err = layer.ParsePhase(*phase); err != nil {
		return o, cli.Usagef("--phase: %w", err)
	}
	if f.Changed("mesh") {
		if o.only, err = mesh.Parse(*one, mesh.Data, mesh.Context, mesh.Expert, mesh.Model); err != nil {
			return o, cli.Usagef("--mesh: %w", err)
		}
	}
	switch {
	case f.Changed("tokens") && o.ask.Phase == layer.Decode:
		o.ask.Sequences = *tokens
	case f.Changed("tokens"):
		if o.ask.Length < 1 || *tokens%o.ask.Length != 0 {
			return o, cli.Usagef("--tokens = %d: not a multiple of --length, %d tokens of each sequence", *tokens, o.ask.Length)
		}
		o.ask.Sequences = *tokens / o.ask.Length
	case !f.Changed("sequences"):
		o.ask.Sequences = o.ask.Devices()
	}
	if err := o.ask.Validate(); err != nil {
		return o, cli.Usagef("%w", err)
	}
	return o, nil
}

func (o options) search(ctx context.Context, w io.Writer) error {
	found, err := layer.Search(ctx, o.ask, o.only)
	if err != nil {
		return err
	}
	if o.as == "csv" {
		err = writeCSV(w, found)
	} else {
		err = o.table(w, found)
	}
	if err == nil && !found.Plans[0].Fits {
		err = errors.New("no way to spread the layer fits the memory of a device") // what there is has been printed
	}
	return err
}

// table is for people.
func (o options) table(w io.Writer, f layer.Found) error {
	a := o.ask
	batch := fmt.Sprintf("%s of %d tokens", words.Count(a.Sequences, "sequence"), a.Length)
	if a.Phase == layer.Decode {
		batch = fmt.Sprintf("a new token of each of %s behind %d in the cache", words.Count(a.Sequences, "sequence"), a.Length)
	}
	fmt.Fprintf(w, "One layer of %s, %s, %s, bfloat16, on %d devices of %s (%s) · predicted\n", a.Layer.Title, a.Phase, batch, a.Devices(), a.Chip.CommonName(), a.Slice())
	fmt.Fprintf(w, "%d mesh%s, %s to spread the layer over them; need more than the %s of a device: %d\n\n", f.Meshes, words.When(f.Meshes != 1, "es"), words.Count(f.Ways, "way"), layer.Bytes(int64(a.Chip.MemoryBytes.Value)), f.Small)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mesh\tweights\tcaches\tmemory\tcompute\twire\tbound\ttime\tleast\tmost\tpeak\t")
	again := false
	for _, p := range f.Plans[:min(o.top, len(f.Plans))] {
		weights := string(p.Weights) + words.When(p.Recompute, " ↻")
		again = again || p.Recompute
		memory := layer.Bytes(p.Memory.Total()) + words.When(!p.Fits, " too big")
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f %%\t\n", layer.Short(p.Mesh), weights, p.Caches, memory, layer.Seconds(p.Compute.Seconds), layer.Seconds(p.Wire.Seconds),
			p.Bound, layer.Seconds(p.Time.Seconds), layer.Seconds(p.Time.Least), layer.Seconds(p.Time.Most), 100*p.Useful)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	more := len(f.Plans) - o.top
	fmt.Fprintln(w, words.When(more > 0, "… %d more\n", more)+words.When(again, "↻ the backward pass computes a layer anew from its input\n"))
	for _, line := range f.Words() {
		fmt.Fprintln(w, line)
	}
	return nil
}

// writeCSV has every plan, in bytes and seconds.
func writeCSV(w io.Writer, f layer.Found) error {
	t := csv.NewWriter(w)
	t.Write([]string{"mode", "chip", "slice", "layer", "phase", "sequences", "length", "mesh", "weights", "caches", "recompute", "fits",
		"memory_bytes", "weight_bytes", "training_bytes", "activation_bytes", "cache_bytes", "working_bytes",
		"compute_seconds", "wire_seconds", "seconds", "seconds_least", "seconds_most", "bound", "of_peak"})
	number := func(v float64) string { return fmt.Sprintf("%.6g", v) }
	a := f.Ask
	for _, p := range f.Plans {
		m := p.Memory
		t.Write([]string{"predicted", a.Chip.Key, a.Slice(), a.Layer.Name, string(a.Phase), fmt.Sprint(a.Sequences), fmt.Sprint(a.Length), p.Mesh.String(),
			string(p.Weights), string(p.Caches), fmt.Sprint(p.Recompute), fmt.Sprint(p.Fits),
			fmt.Sprint(m.Total()), fmt.Sprint(m.Weights), fmt.Sprint(m.Training), fmt.Sprint(m.Activations), fmt.Sprint(m.Cache), fmt.Sprint(m.Working),
			number(p.Compute.Seconds), number(p.Wire.Seconds), number(p.Time.Seconds), number(p.Time.Least), number(p.Time.Most), p.Bound, number(p.Useful)})
	}
	t.Flush()
	return t.Error()
}
