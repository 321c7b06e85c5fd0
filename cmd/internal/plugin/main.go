// Package plugin is command plugin: it installs PJRT plugins and says what works.
package plugin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/plugins"
	"matladder/plugins/probe"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"
)

//go:embed manual.txt
var manual string

// verbs are the commands, with the flags that each takes.
var verbs = map[string][]string{"list": nil, "install": {"version", "unpinned", "index-url", "from"}, "doctor": {"timeout"}}

// flags are those of all verbs.
type flags struct {
	set     *pflag.FlagSet
	options plugins.Options
	from    string
	limit   time.Duration
}

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("plugin", dispatch(ctx, args, stdout, stderr), "interrupted; the same command goes on", stdout, stderr)
}

// dispatch runs one of the three commands.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := &flags{set: cli.NewFlags("plugin")}
	s := f.set
	s.StringVar(&f.options.Version, "version", "", "`VERSION` to install, one whose checksums are known here; the newest of them if not given")
	s.BoolVar(&f.options.Unpinned, "unpinned", false, "take what the index offers, whose checksums are not known here")
	s.StringVar(&f.options.IndexURL, "index-url", "", "`URL` of the package index; "+plugins.IndexVariable+" or pypi.org if not given")
	s.StringVar(&f.from, "from", "", "link to what a Python has in its `SITE-PACKAGES`; checksums are not verified")
	cli.Group(s, "INSTALL")
	s.DurationVar(&f.limit, "timeout", time.Minute, "`TIME` that a plugin may take to load and to make a client")
	cli.Group(s, "DOCTOR")
	if slices.Equal(args, []string{"help"}) {
		args = []string{"--help"}
	}
	if err := cli.Parse(s, args, manual); err != nil {
		return err
	}
	if s.NArg() == 0 {
		return cli.Usagef("which command? list, install or doctor (--help says more)")
	}
	verb := s.Arg(0)
	takes, known := verbs[verb]
	if !known {
		return cli.Usagef("unknown command %q (known: list, install, doctor)", verb)
	}
	if err := cli.Takes(s, verb, takes); err != nil {
		return err
	}
	switch verb {
	case "list":
		return list(f, stdout)
	case "install":
		return install(ctx, f, stdout, stderr)
	}
	return doctor(ctx, f, stdout)
}

// list shows what is installed.
func list(f *flags, stdout io.Writer) error {
	if f.set.NArg() > 1 {
		return cli.Usagef("list takes no arguments")
	}
	folder, all, err := installed()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if len(all) == 0 {
		fmt.Fprintf(w, "no plugins in %s\n", folder)
		for _, p := range plugins.Known {
			fmt.Fprintf(w, "  %s\t%s\tgo run ./cmd/plugin install %s\n", p.Name, p.Title, p.Name)
		}
		return nil
	}
	fmt.Fprintln(w, "plugin\tversion\tplatform\tPJRT API\tlibrary")
	name := ""
	for _, i := range all {
		note := ""
		switch err := i.Damage(); {
		case err != nil:
			note = "  (" + err.Error() + ")"
		case i.Name == name:
			note = "  (not used: an older installation)"
		}
		if err := i.Vouched(); err != nil {
			note += "  (not used: " + err.Error() + ")"
		} else if i.Unpinned {
			note += "  (unpinned)"
		}
		name = i.Name
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s%s\n", i.Name, i.Version, i.Platform, cmp.Or(i.API, "-"), i.Library(), note)
	}
	return nil
}

// installed is what is in the folder of plugins.
func installed() (folder string, all []plugins.Installed, err error) {
	if folder, err = plugins.Folder(); err == nil {
		all, err = plugins.List(folder)
	}
	return folder, all, err
}

// loadLimit is how long a new library may take to load, from a slow disk too.
const loadLimit = 2 * time.Minute

// install installs one plugin.
func install(ctx context.Context, f *flags, stdout, stderr io.Writer) error {
	if f.set.NArg() != 2 {
		return cli.Usagef("install takes the name of one plugin: cpu, tpu or cuda")
	}
	name := f.set.Arg(1)
	if _, err := plugins.Lookup(name); err != nil {
		return &cli.UsageError{Err: err}
	}
	if f.from != "" && (f.options.Version != "" || f.options.IndexURL != "") {
		return cli.Usagef("--from takes what is there: neither --version nor --index-url goes with it")
	}
	p := &progress{w: stderr}
	o := f.options
	o.Name, o.Progress, o.Check = name, p.observe, load
	o.Notice = func(text string) { fmt.Fprintf(stderr, "plugin: %s\n", text) }
	var i plugins.Installed
	var err error
	if f.from != "" {
		i, err = plugins.Link(ctx, o, f.from)
	} else {
		i, err = plugins.Install(ctx, o)
	}
	p.finish()
	if errors.As(err, new(*plugins.OptionError)) {
		return &cli.UsageError{Err: err}
	} else if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s %s: %s\n", i.Name, i.Version, i.Library())
	if missing := plugins.MissingDevice(name); missing != "" {
		fmt.Fprintf(stdout, "note: %s\n", missing)
	}
	return nil
}

// load loads a library in a process of its own and returns its API version.
func load(ctx context.Context, library string) (string, error) {
	r, err := probe.Run(ctx, library, probe.Options{Limit: loadLimit})
	switch {
	case err != nil:
		return "", err
	case r.Problem != "":
		return "", errors.New("the library does not load: " + r.Problem)
	}
	return r.API, nil
}

// progress shows downloads: a bar on a terminal, a line for each file elsewhere.
type progress struct {
	w    io.Writer
	file string
	bar  *progressbar.ProgressBar
}

func (p *progress) observe(s plugins.Progress) {
	if s.File != p.file {
		p.finish()
		p.file = s.File
		title := fmt.Sprintf("[%d/%d] %s", s.Index, s.Of, s.File)
		if !cli.Terminal(p.w) {
			fmt.Fprintf(p.w, "%s%s\n", title, extent(s))
			return
		}
		p.bar = progressbar.NewOptions64(s.Total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(title),
			progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond),
		)
	}
	if p.bar != nil {
		p.bar.Set64(s.Done)
	}
}

// extent says how much there is, and from where an earlier attempt goes on.
func extent(s plugins.Progress) string {
	here := words.When(s.Done > 0, ", %.1f of them here already", float64(s.Done)/1e6)
	return words.When(s.Total >= 0, ", %.1f MB%s", float64(s.Total)/1e6, here)
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
