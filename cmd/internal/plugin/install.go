package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"matladder/internal/cli"
	"matladder/plugins"
	"matladder/plugins/probe"

	"github.com/schollz/progressbar/v3"
)

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
	switch {
	case s.Total < 0:
		return ""
	case s.Done == 0:
		return fmt.Sprintf(", %.1f MB", float64(s.Total)/1e6)
	}
	return fmt.Sprintf(", %.1f MB, %.1f of them here already", float64(s.Total)/1e6, float64(s.Done)/1e6)
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
