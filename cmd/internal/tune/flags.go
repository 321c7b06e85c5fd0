package tune

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"matladder/backend/registry"
	"matladder/cmd/internal/deviceflag"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/problem"
	"matladder/tile"

	"github.com/spf13/pflag"
)

// flags is what the command line asks for.
type flags struct {
	set     *pflag.FlagSet
	config  harness.Config
	where   *deviceflag.Flags
	budget  time.Duration
	most    int
	out     string
	again   bool
	list    bool
	imports string
	exports string
	from    string
	layer   tuned.MoE
	tokens  []int
}

//go:embed manual.txt
var manual string

func parseFlags(args []string) (*flags, error) {
	var threads int
	var moe string
	f := &flags{set: cli.NewFlags("tune")}
	s := f.set
	sweepflag.Define(s, "ladder", "family", "kernel", "dtype", "sizes")
	s.BoolVar(&f.again, "again", false, "tune also what is in the table")
	cli.Group(s, "WHAT TO TUNE")
	f.where = deviceflag.Define(s, registry.Measures|registry.Predicts)
	s.IntVar(&threads, "threads", 0, "`THREADS` of the CPU; 0 for one a core")
	cli.Group(s, "WHERE")
	s.DurationVar(&f.budget, "time-budget", 0, "wall `TIME` of the whole execution, such as 5m; 0 for no limit")
	s.IntVar(&f.most, "candidates", 24, "launch `N` block shapes besides the kernel's own")
	cli.Group(s, "HOW TO TUNE")
	s.StringVar(&f.out, "out", "", "`FILE` of the table; configs/tuned/<machine>.yaml if not given")
	s.BoolVar(&f.list, "list", false, "print the table with what fallbacks cost, and stop")
	cli.Group(s, "THE TABLE")
	s.StringVar(&f.exports, "export", "", "write the table's rows of v5 to out/FORMAT in `FORMAT`, with what they rest on and what the default there takes, and stop")
	s.StringVar(&f.imports, "import", "", "list the entries in `FILE` that take longer than the default of their project, and stop")
	s.StringVar(&f.from, "from", string(tuned.TPUInference), "`FORMAT` of the FILE of --import")
	cli.Known(s, "export", tuned.Formats)
	cli.Known(s, "from", each.That(tuned.Formats, tuned.Format.HasDefault))
	s.StringVar(&moe, "moe", "", "a layer of experts, `E,TOPK,HIDDEN,WIDTH`, for vllm-moe: its products are tuned in place of --sizes, by v5 and in bfloat16 if not told otherwise")
	s.IntSliceVar(&f.tokens, "tokens", vllmTokens, "numbers of `TOKENS` that the layer of --moe meets")
	cli.Group(s, "TABLES OF OTHER PROJECTS")
	if err := cli.Parse(s, args, manual); err != nil {
		return f, err
	}
	switch {
	case s.NArg() > 0:
		return f, cli.Misuse(s, "unexpected argument %q: problems are named by --config or --sizes", s.Arg(0))
	case f.most < 0:
		return f, cli.Usagef("--candidates %d is negative", f.most)
	case threads < 0:
		return f, cli.Usagef("--threads %d is negative", threads)
	case f.list && f.imports+f.exports != "" || f.imports != "" && f.exports != "":
		return f, cli.Usagef("--list, --import and --export: one of them at a time")
	case f.exports != "" && !slices.Contains(tuned.Formats, tuned.Format(f.exports)), !slices.Contains(tuned.Formats, tuned.Format(f.from)):
		return f, cli.Usagef("--export %s, --from %s: want one of %s", f.exports, f.from, words.Join(tuned.Formats, ", "))
	case !tuned.Format(f.from).HasDefault():
		return f, cli.Usagef("--from %s: its lists have no default to compare with", f.from)
	case moe == "" && (tuned.Format(f.exports).NeedsLayer() || tuned.Format(f.from).NeedsLayer()):
		return f, cli.Usagef("--moe E,TOPK,HIDDEN,WIDTH is wanted: files of this format name experts and width alone")
	}
	if f.where.Asked() {
		return f, nil
	}
	if err := f.where.Check(); err != nil {
		return f, err
	}
	c, err := sweepflag.Read(s)
	if err == nil && moe != "" {
		err = f.readLayer(moe, &c)
	}
	c.Threads = cmp.Or(threads, c.Threads)
	c.AllBlocks, c.Blocks = true, nil
	f.config = c
	return f, err
}

// vllmTokens are those of the tables that come with vLLM.
var vllmTokens = []int{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096}

// readLayer reads --moe, and puts the products of its layer into a sweep.
func (f *flags) readLayer(moe string, c *harness.Config) error {
	l := &f.layer
	if _, err := fmt.Sscanf(moe, "%d,%d,%d,%d", &l.Experts, &l.TopK, &l.Hidden, &l.Width); err != nil || min(l.TopK, l.Hidden, l.Width) < 1 || l.Experts < l.TopK || slices.Min(f.tokens) < 1 {
		return cli.Usagef("--moe %s, --tokens %v: want EXPERTS,TOPK,HIDDEN,WIDTH such as 8,2,4096,14336, and tokens from 1", moe, f.tokens)
	}
	if f.set.Changed("sizes") || f.set.Changed("family") {
		return cli.Usagef("--moe goes with neither --sizes nor --family: it says what the products are")
	}
	c.Sizes = slices.Concat(each.Of(f.tokens, l.Sizes)...)
	if !f.set.Changed("kernel") {
		c.Kernels = []int{5}
	}
	if !f.set.Changed("dtype") {
		c.Asked = []problem.Asked{problem.New(1, 1, 1, tile.BFloat16).Asked()}
	}
	return nil
}
