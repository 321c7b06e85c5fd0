package tune

import (
	"fmt"
	"io"
	"unicode/utf8"

	"matladder/harness/tune"
	"matladder/internal/cli"
)

// progress is one line on a terminal that says how far a problem is; elsewhere the
// rows that are found are progress enough.
type progress struct {
	w     io.Writer
	tty   bool
	width int // of what stands on the line
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, tty: cli.Terminal(w)}
}

// observe returns the observer of one problem.
func (p *progress) observe(what string) func(tune.Event) {
	if !p.tty {
		return nil
	}
	return func(e tune.Event) {
		line := fmt.Sprintf("%s: %d of %d launched", what, e.Screened, e.Candidates)
		switch {
		case e.Adjusting:
			line = fmt.Sprintf("%s: adjustments, round %d, %d in the race", what, e.Round, e.Racing)
		case e.Round > 0:
			line = fmt.Sprintf("%s: round %d, %d in the race", what, e.Round, e.Racing)
		}
		line = cli.Line(p.w, line, 1) // the cursor stands behind it
		fmt.Fprintf(p.w, "\r%-*s", p.width, line)
		p.width = utf8.RuneCountInString(line)
	}
}

// clear empties the line.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%*s\r", p.width, "")
		p.width = 0
	}
}
