package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/backend/xla/aot"
	"matladder/cmd/internal/deviceflag"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/lower/triton/ttir"
	"matladder/machine"
	"matladder/model/traverse"
	"matladder/stats"
	"matladder/tile"
)

const (
	tritonFile = ".ttir"
	launchFile = ".json" // next to it: what Triton writes there itself, with grid and args
	defaultGPU = "h100"
)

// tritonWays are those in which a kernel of Triton can be shown.
var tritonWays = []string{"table"}

// launched is a kernel of Triton and what it is launched with.
type launched struct {
	kernel *ttir.Kernel
	ttir.Launch
	beside string // the file that says how it is launched, or should
}

// tritonKernel reads a kernel, and how it is launched from the file beside it, if there is one.
func tritonKernel(path, text string) (*launched, error) {
	l := &launched{Launch: ttir.Launch{Warps: ttir.DefaultWarps, Stages: ttir.DefaultStages, Args: map[string]string{}}}
	var err error
	if l.kernel, err = ttir.Parse(text); err != nil {
		return l, err
	}
	l.beside = strings.TrimSuffix(path, filepath.Ext(path)) + launchFile
	beside, err := files.ReadRegular(l.beside, largestFile)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if l.Launch, err = ttir.ReadLaunch(beside); err != nil {
		return l, fmt.Errorf("%s: %w", l.beside, err)
	}
	return l, nil
}

// set takes what --launch says: grid=64x1x1 M=4096.
func (l *launched) set(text string) error {
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }) {
		name, v, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(v)
		switch {
		case !ok:
			return fmt.Errorf("--launch: %q: want NAME=VALUE, as in grid=512x1x1 M=4096", part)
		case name == "grid":
			l.Grid = [3]int{1, 1, 1}
			sizes := strings.Split(v, "x")
			for i, size := range sizes {
				if n, err := strconv.Atoi(size); err == nil && n > 0 && len(sizes) <= 3 {
					l.Grid[i] = n
					continue
				}
				return fmt.Errorf("--launch: grid=%s: want one to three sizes, as in 512x1x1", v)
			}
		case name == "num_warps" || name == "num_stages":
			switch {
			case err != nil || n < 1 || n > 64:
				return fmt.Errorf("--launch: %s: want a number from 1 to 64", part)
			case name == "num_stages":
				l.Stages = n
			case n&(n-1) != 0:
				return fmt.Errorf("--launch: %s: want a power of two", part)
			default:
				l.Warps = n
			}
		default:
			l.Args[name] = v
		}
	}
	return nil
}

// listed takes the chips of --topology apart, each once.
func (o *options) listed() error {
	chips, err := o.where.Each()
	o.topologies = each.Of(chips, func(chip *deviceflag.Flags) string { return chip.Topology })
	return err
}

// gpus takes the GPUs of --topology.
func (o *options) gpus() error {
	if o.where.Backend != "" {
		return errors.New("--backend: a kernel of Triton is predicted for GPUs that --topology names, and runs nowhere")
	}
	if err := o.listed(); err != nil {
		return err
	}
	if o.where.Topology == "" {
		o.topologies = []string{defaultGPU}
	}
	for _, name := range o.topologies {
		if _, err := aot.FindGPU(name); err != nil {
			return fmt.Errorf("--topology: a kernel of Triton is predicted for GPUs: %w", err)
		}
	}
	return nil
}

// ready reports what is missing to launch the kernel.
func (l *launched) ready(name string) error {
	_, err := l.kernel.Numbers(l.Launch)
	if err == nil && l.Grid[0] == 0 {
		err = errors.New("its grid is not known")
	}
	if err != nil {
		return fmt.Errorf(`%s: %w: say it in %s as "grid": [512, 1, 1], "args": {"M": 4096}, or by --launch "grid=512x1x1 M=4096"`, name, err, l.beside)
	}
	return nil
}

// tritonTable writes what a kernel of Triton is predicted to take on each GPU.
func (o *options) tritonTable(ctx context.Context, w io.Writer) error {
	if o.wrong != nil {
		return o.wrong
	}
	l := o.launched
	c := o.comparison(w, "chip", "kernel", "seconds", "low", "high", "limit", "flops", "bytes", "shared", "registers", "spills", "threads", "blocks", "steps", "occupancy", "unsupported", "note")
	for _, name := range o.topologies {
		f, version, device, err := o.onGPU(ctx, name)
		reason := ""
		if big := (*backend.TooBigError)(nil); errors.Is(err, backend.ErrUnsupported) || errors.As(err, &big) {
			reason = strings.TrimPrefix(err.Error(), backend.ErrUnsupported.Error()+": ")
		} else if err != nil {
			return fmt.Errorf("%s on %s: %w", o.name, name, err)
		} else {
			c.took(name, f.Time.Seconds)
		}
		k, n := f.Kernel, f.Counts
		if c.sheet != nil {
			row := []string{name, l.kernel.Name, "", "", "", "", "", "", "", "", "", "", "", "", "", reason, strings.Join(f.Notes, "; ")}
			if reason == "" {
				for i, v := range []any{f.Time.Seconds, f.Least, f.Most, f.Time.Limit, f.FLOPs, f.Time.Bytes, k.SharedBytes, k.Registers, k.SpillBytes, k.Threads, n.Blocks, n.Steps, f.Layout.BlocksPerCore} {
					if row[2+i] = fmt.Sprint(v); i < 3 {
						row[2+i] = fmt.Sprintf("%.4g", v)
					}
				}
			}
			c.sheet.Write(row)
			continue
		}
		fmt.Fprintf(w, "%s: %s, grid %dx%dx%d, %d warps, %d stages, on %s, predicted from what %s compiles\n", o.name, l.kernel.Name, l.Grid[0], l.Grid[1], l.Grid[2], l.Warps, l.Stages, device.CommonName(), version)
		if reason != "" {
			fmt.Fprintf(w, "unsupported: %s\n\n", reason)
			continue
		}
		t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, "time\tband\tlimit\tFLOPs\tbytes\tshared memory\tregisters\tspills\tblocks × steps\ton a multiprocessor")
		fmt.Fprintf(t, "%s\t%s … %s\t%s\t%.4g\t%s\t%s\t%d\t%s\t%d × %.4g\t%d of %d threads\n", stats.FormatSeconds(f.Time.Seconds), stats.FormatSeconds(f.Least), stats.FormatSeconds(f.Most), f.Time.Limit,
			float64(f.FLOPs), traverse.Bytes(f.Time.Bytes), traverse.FastMemory(int64(k.SharedBytes)), k.Registers, traverse.Bytes(int64(k.SpillBytes)), n.Blocks, float64(n.Steps)/float64(n.Blocks), f.Layout.BlocksPerCore, k.Threads)
		if err := t.Flush(); err != nil {
			return err
		}
		for _, note := range f.Notes {
			fmt.Fprintf(w, "note: %s\n", note)
		}
		o.flops = f.FLOPs
		if d, err := tile.ParseDtype(f.Products); err == nil {
			o.dtype = d
		}
		if err := o.rated(w, f.Prediction, device.PeakAt(f.Products, f.Precision), f.Products); err != nil {
			return err
		}
	}
	return c.end()
}

// onGPU compiles for one GPU and predicts, and says what compiled.
func (o *options) onGPU(ctx context.Context, name string) (f aot.GPUForeign, compiler string, device machine.Device, err error) {
	b, err := aot.OpenGPUBackend(aot.BackendOptions{Topology: name, Options: aot.Options{Limit: compileLimit, Parallel: 1}})
	if err != nil {
		return f, "", device, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	plugin, version := b.Plugin()
	f, err = b.Foreign(ctx, o.launched.kernel, o.launched.Launch)
	return f, strings.TrimSpace(plugin + " " + version), b.Device(), err
}
