package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/backend/xla/aot"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/problem"
	"matladder/stats"
)

// exported is the kernel whose blocks mean what those of other projects' kernels do: it sums in an
// accumulator of its own and stores a block once.
const exported = "v5_quant"

// judge finds how long settings take.
type judge struct {
	*device
	tuner  tune.Tuner
	kernel kernels.Kernel
	mode   string
}

// judge opens the device for a format.
func (f *flags) judge(ctx context.Context, stderr io.Writer, format tuned.Format) (*judge, error) {
	k, err := kernels.Find(exported)
	if err != nil {
		return nil, err
	}
	dev, err := f.open(ctx, stderr)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(format.Kinds(), dev.Device().Kind) {
		return nil, errors.Join(cli.Usagef("%s is no format for %s; --topology names another chip", format, dev.Device().Names[0]), dev.Close())
	}
	g := &judge{dev, f.tuner(dev), k, tuned.Measured}
	if g.Predicts {
		g.mode = tuned.Predicted
	}
	return g, nil
}

// times are the seconds that answers take for all problems of an entry.
func (g *judge) times(ctx context.Context, e tuned.Entry, answers []tuned.Answer) (total []float64, failed, err error) {
	total = make([]float64, len(answers))
	for _, p := range e.Problems {
		seconds, reason, err := g.tuner.Times(ctx, tune.Job{Kernel: g.kernel, Problem: p}, answers)
		if err != nil {
			return nil, nil, err
		}
		for i := range answers {
			total[i] += seconds[i]
		}
		failed = cmp.Or(failed, reason)
	}
	return total, failed, nil
}

// fill returns an answer with the parameters that it leaves to the compiler of a GPU.
func (g *judge) fill(ctx context.Context, e *tuned.Entry, a tuned.Answer) (tuned.Answer, error) {
	b, ok := g.Backend.(*aot.GPUBackend)
	if !ok {
		return a, errors.New("which parameters are taken is known of a predicted GPU: name it with --topology, and this table with --out")
	}
	programs, err := g.kernel.Build(e.Problems[0], "", problem.Clip(e.Problems[0], a.Blocks))
	if err != nil {
		return a, err
	}
	params, err := a.AddTo(g.Params)
	if err != nil {
		return a, err
	}
	steps, err := b.Steps(ctx, programs, params)
	if err == nil {
		p := steps[len(steps)-1].Params
		params = params.With("num_warps", strconv.Itoa(p.Warps)).With("num_stages", strconv.Itoa(max(1, p.Stages))).With("group", strconv.Itoa(max(1, p.Group)))
	}
	return tuned.Answer{Blocks: a.Blocks, Params: params.String()}, err
}

// settle takes the fastest of the choices of an entry and its default.
func (g *judge) settle(ctx context.Context, e *tuned.Entry) (err error) {
	for i := range e.Choices {
		if e.GPU() {
			e.Choices[i], err = g.fill(ctx, e, e.Choices[i])
		}
		if err != nil {
			return err
		}
	}
	answers := append(e.Choices, e.Default)
	total, reason, err := g.times(ctx, *e, answers)
	if err != nil {
		return err
	}
	e.Seconds = math.Inf(1)
	for i, seconds := range total {
		if seconds < e.Seconds {
			e.Best, e.Seconds = answers[i], seconds
		}
	}
	if math.IsInf(e.Seconds, 1) {
		return reason
	}
	e.Told = fmt.Sprintf("%s, %s %s; the default %s ", e.Best, stats.FormatSeconds(e.Seconds), g.mode, e.Default)
	if last := total[len(total)-1]; math.IsNaN(last) {
		e.Told += fmt.Sprintf("cannot run: %v", reason)
	} else {
		e.Told, e.DefaultSeconds = e.Told+fmt.Sprintf("takes %.3f × as long", last/e.Seconds), last
	}
	return nil
}

// export writes the table in another project's format, with what each setting rests on beside it.
func (f *flags) export(ctx context.Context, stdout, stderr io.Writer) error {
	format := tuned.Format(f.exports)
	g, err := f.judge(ctx, stderr, format)
	if err != nil {
		return err
	}
	defer g.Close()
	t, path, err := f.table(g.device)
	if err != nil {
		return err
	}
	list, err := format.Entries(t, exported, g.Device(), f.layer, f.tokens)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%s has no row of %s that %s has a place for (docs/tuned.md)", path, exported, format)
	}
	byFile := map[string][]tuned.Entry{}
	for _, e := range list {
		if err := g.settle(ctx, &e); err != nil {
			return fmt.Errorf("%s: %w", e.Key, err)
		}
		fmt.Fprintf(stdout, "%s: %s\n", e.Key, e.Told)
		byFile[e.File] = append(byFile[e.File], e)
	}
	about := tuned.About{
		Command: "tune " + strings.Join(sweepflag.Args(f.set), " "), Chip: g.Device().Names[0], Mode: g.mode,
		Kernel: exported, Versions: g.versions, Date: time.Now().UTC().Format(time.DateOnly),
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		text, beside, err := format.Write(byFile[name], about)
		path := filepath.Join("out", f.exports, name)
		if err = cmp.Or(err, files.MakeFolder(path)); err == nil {
			err = cmp.Or(files.Replace(path, []byte(text)), files.Replace(path+".evidence.json", []byte(beside)))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s; .evidence.json beside it says what they rest on\n", path, words.Count(len(byFile[name]), "setting"))
	}
	return nil
}

// compare lists entries of others' files that take longer than what they replace.
func (f *flags) compare(ctx context.Context, stdout, stderr io.Writer) error {
	begin, format := time.Now(), tuned.Format(f.from)
	text, err := files.Read(f.imports)
	if err != nil {
		return cli.Input("import", err)
	}
	g, err := f.judge(ctx, stderr, format)
	if err != nil {
		return err
	}
	defer g.Close()
	list, others, err := format.Read(f.imports, text, g.Device(), f.layer)
	if err != nil {
		return cli.Input("import", err)
	}
	slower, unknown, seen := 0, 0, 0
	for seen < len(list) && (f.budget == 0 || time.Since(begin) < f.budget) {
		e := list[seen]
		total, reason, err := g.times(ctx, e, append(e.Choices, e.Default))
		switch seen++; {
		case err != nil:
			return err
		case math.IsNaN(total[0] + total[1]):
			unknown++
			fmt.Fprintf(stderr, "%s: theirs %s and the default %s cannot be compared: %v\n", e.Key, e.Choices[0], e.Default, reason)
		case total[0] > total[1]:
			slower++
			fmt.Fprintf(stdout, "%s: theirs %s takes %.3f × as long as the default %s, %s %s\n", e.Key, e.Choices[0], total[0]/total[1], e.Default, stats.FormatSeconds(total[1]), g.mode)
		}
	}
	_, err = fmt.Fprintf(stdout, "%s: %d of %s %s slower than the default on %s; %d not compared, %d left for want of time, %d of other devices or products\n",
		f.imports, slower, words.Count(seen, "setting"), g.mode, g.Device().Names[0], unknown, len(list)-seen, others)
	return err
}
