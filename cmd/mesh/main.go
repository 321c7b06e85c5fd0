// Mesh searches for the mesh of devices, and the way to spread a layer of a transformer
// over it, that a slice of a TPU pod would take least time with. Nothing runs and nothing
// is compiled: every figure is predicted, by the model of package model/layer.
//
// Usage:
//
//	go run ./cmd/mesh --topology v5e:16x16 --layer llama3-70b [flags]
//
// --topology is a chip and a slice of its pod, the whole pod if no slice is named.
// --phase is what the layer does: train (forward and backward), prefill (prompts) or decode
// (one new token of each sequence). The batch is --sequences of --length tokens each; of
// those that decode, --length are in the cache. --tokens says how many tokens go through
// the layer together instead, and so how many sequences there are.
//
//	$ mesh --topology v5p:8x8x8 --layer llama3-70b --phase train --tokens 1048576 --length 4096 --top 4
//	One layer of Llama 3 70B, train, 256 sequences of 4096 tokens, bfloat16, on 512 devices of TPU v5p (8x8x8) · predicted
//	48 meshes, 270 ways to spread the layer over them; need more than the 95 GiB of a device: 69
//	                       mesh   weights  caches    memory  compute     wire  bound     time  least     most    peak
//	           data=128,model=4  gathered   heads  39.7 GiB    24 ms   8.1 ms    MXU  32.1 ms  24 ms  38.3 ms  74.3 %
//	  data=64,context=2,model=4  gathered   heads  39.7 GiB    24 ms  8.29 ms    MXU  32.2 ms  24 ms  38.5 ms  73.8 %
//	  data=32,context=4,model=4  gathered   heads  39.7 GiB    24 ms  8.48 ms    MXU  32.4 ms  24 ms  38.7 ms  73.4 %
//	           data=256,model=2  gathered   heads  40.4 GiB    24 ms  8.74 ms    MXU  32.7 ms  24 ms  38.9 ms  72.8 %
//	… 44 more
//	data=128,model=4, weights gathered is predicted to take least, 32.1 ms a layer: a device computes for 24 ms, bound by its matrix unit, and 8.1 ms are on the wire: 4.49 ms for gathering and scattering activations along model, 2.41 ms for gathering weights along data, 1.2 ms for adding up gradients along data.
//	Weights gathered along data take as long as multiplying by them at C/W = 1275 rows of a device for each weight; here it has 8192, enough.
//	Activations along model take as long as the feed-forward products at ⅔·C/W = 1700 hidden columns of a device; here it has 7168, enough.
//	Next, data=64,context=2,model=4, weights gathered: 188 µs more, since gathering keys and values takes 188 µs longer.
//	The bands of the first 44 overlap: which of them is the fastest is not certain.
//	data=256,context=2, weights copied would take 30.5 ms, but a device needs 826 GiB and has 95 GiB: 657 GiB of it are gradients and Adam's moments.
//
// A row is a mesh, with the way to spread the layer that is fastest of those that fit:
//
//	data     sequences are split over it
//	context  the tokens of a sequence are
//	expert   the experts of a mixture are, and sequences
//	model    heads and hidden columns are
//
//	weights copied      every device along data has those of its part of model
//	weights gathered    they are spread over data too, and gathered when they are needed
//	weights stationary  they are spread over data too and stay, sums are added up instead
//
// memory is what a device needs, for all layers of the model; compute, wire and time are of
// one layer. time is the sum of both, as if nothing overlapped, then the least and the most
// that it may be; bound is what takes the longest; peak is the part of the peak of all
// devices that the FLOPs of the layer would be. Below stands why the first is the first,
// and what makes the next slower; C there is the peak of a device in FLOP/s, and W what it
// can send along those axes in bytes/s.
//
// --mesh data=16,model=16 looks at one mesh, and shows every way to spread the layer over
// it. --format csv has all meshes, in bytes and seconds.
//
//	$ mesh --topology v5e:4x4 --layer llama3-70b --phase decode --sequences 43 --mesh model=16
//	One layer of Llama 3 70B, decode, a new token of each of 43 sequences behind 8192 in the cache, bfloat16, on 16 devices of TPU v5e (4x4) · predicted
//	1 mesh, 2 ways to spread the layer over them; need more than the 16 GiB of a device: 1
//	      mesh  weights     caches            memory  compute     wire  bound    time   least    most   peak
//	  model=16   copied  sequences          15.1 GiB   248 µs  94.6 µs    HBM  342 µs  236 µs  375 µs  7.9 %
//	  model=16   copied      heads  21.8 GiB too big   358 µs  53.4 µs    HBM  411 µs  341 µs  439 µs  6.6 %
//	model=16, weights copied, caches by sequences is predicted to take least, 342 µs a layer: a device computes for 248 µs, bound by its memory, and 94.6 µs are on the wire: 53.4 µs for gathering and scattering activations along model, 41.2 µs for turning heads into sequences along model.
//	Activations along model take as long as the feed-forward products at ⅔·C/W = 1459 hidden columns of a device; here it has 1792, enough.
//
// # Exit status
//
// 0 if a way was found that fits memory, 1 if there is none, 2 if the command line is
// wrong, 130 after Ctrl-C.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"matladder/internal/cli"
	"matladder/internal/known"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/model/layer"
)

func main() { cli.Main("mesh", run) }

// options is what the command line asks for, checked.
type options struct {
	ask    layer.Ask
	only   mesh.Mesh
	top    int
	format string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if err == nil {
		err = o.search(ctx, stdout)
	}
	return cli.End("mesh", err, "interrupted", stderr)
}

const usage = "Usage: go run ./cmd/mesh --topology v5e:16x16 --layer llama3-70b [flags]\n\nPredicts which mesh suits a layer of a transformer. The manual: go doc ./cmd/mesh"

func parse(args []string, stdout io.Writer) (o options, err error) {
	f := cli.NewFlags("mesh")
	names := known.Names(layer.All, func(l layer.Layer) string { return l.Name })
	topology := f.String("topology", "", "`SLICE` of a pod: a chip and its chips along each dimension (v5e:16x16, v5p:8x8x8), or a chip for a whole pod")
	name := f.String("layer", "", "`LAYER` of which model: "+strings.Join(names, ", "))
	phase := f.String("phase", string(layer.Prefill), "`PHASE`: train, prefill or decode")
	tokens := f.Int("tokens", 0, "`N` tokens that go through the layer together, instead of --sequences")
	f.IntVar(&o.ask.Sequences, "sequences", 0, "`N` sequences in the batch (default one for each device)")
	f.IntVar(&o.ask.Length, "length", 8192, "`N` tokens of a sequence; of those that decode, tokens in the cache")
	one := f.String("mesh", "", "look at one `MESH` alone, such as data=16,model=16, and at every way to spread the layer over it")
	f.IntVar(&o.top, "top", 10, "show the first `N`")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: text, csv")
	if err := cli.ParseOrHelp(f, args, stdout, usage); err != nil {
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
	case o.format != "text" && o.format != "csv":
		return o, cli.Usagef("--format: unknown %q, known are text, csv", o.format)
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

// errTooBig says that nothing fits; what there is has been printed.
var errTooBig = errors.New("no way to spread the layer fits the memory of a device")

func (o options) search(ctx context.Context, w io.Writer) error {
	found, err := layer.Search(ctx, o.ask, o.only)
	if err != nil {
		return err
	}
	if o.format == "csv" {
		err = writeCSV(w, found)
	} else {
		err = o.table(w, found)
	}
	if err == nil && !found.Plans[0].Fits {
		err = errTooBig
	}
	return err
}

// table is for people.
func (o options) table(w io.Writer, f layer.Found) error {
	a := o.ask
	batch := fmt.Sprintf("%s of %d tokens", cli.Plural(a.Sequences, "sequence"), a.Length)
	if a.Phase == layer.Decode {
		batch = fmt.Sprintf("a new token of each of %s behind %d in the cache", cli.Plural(a.Sequences, "sequence"), a.Length)
	}
	fmt.Fprintf(w, "One layer of %s, %s, %s, bfloat16, on %d devices of %s (%s) · predicted\n", a.Layer.Title, a.Phase, batch, a.Devices(), a.Chip.CommonName(), a.Slice())
	meshes := "1 mesh"
	if f.Meshes != 1 {
		meshes = fmt.Sprintf("%d meshes", f.Meshes)
	}
	fmt.Fprintf(w, "%s, %s to spread the layer over them; need more than the %s of a device: %d\n\n", meshes, cli.Plural(f.Ways, "way"), layer.Bytes(int64(a.Chip.MemoryBytes.Value)), f.Small)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mesh\tweights\tcaches\tmemory\tcompute\twire\tbound\ttime\tleast\tmost\tpeak\t")
	again := false
	for i, p := range f.Plans {
		if i == o.top {
			break
		}
		weights := string(p.Weights)
		if p.Recompute {
			weights, again = weights+" ↻", true
		}
		memory := layer.Bytes(p.Memory.Total())
		if !p.Fits {
			memory += " too big"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f %%\t\n", layer.Short(p.Mesh), weights, p.Caches, memory, layer.Seconds(p.Compute.Seconds), layer.Seconds(p.Wire.Seconds),
			p.Bound, layer.Seconds(p.Time.Seconds), layer.Seconds(p.Time.Least), layer.Seconds(p.Time.Most), 100*p.Useful)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(f.Plans) - o.top; n > 0 {
		fmt.Fprintf(w, "… %d more\n", n)
	}
	if again {
		fmt.Fprintln(w, "↻ the backward pass computes a layer anew from its input")
	}
	fmt.Fprintln(w)
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
