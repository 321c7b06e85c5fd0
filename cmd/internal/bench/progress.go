package bench

import (
	"fmt"
	"io"
	"time"

	"matladder/backend"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/problem"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far a sweep is: a bar with the time left on a terminal, a
// line for each group elsewhere.
type progress struct {
	w         io.Writer
	bar       *progressbar.ProgressBar // nil where w is no terminal
	narrowing bool                     // the bar is that of the time that was left
	told      bool                     // that the machine is busy
}

// enoughToTell is how many repetitions tell whether the machine is quiet.
const enoughToTell = 20

// barSteps is the resolution of the bar.
const barSteps = 1000

// barColumns is what the bar takes beside its description: percent, times, ends.
const barColumns = 26

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if cli.Terminal(w) {
		p.bar = newBar(w, progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

func newBar(w io.Writer, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions(barSteps, append(more,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)...)
}

func (p *progress) observe(e harness.Event) {
	title := problem.Title(e.Problem)
	what := fmt.Sprintf("[%d/%d] %s", e.Group, e.Groups, title)
	if e.Narrowed > 0 {
		what = fmt.Sprintf("narrowing %s: %s", words.Count(e.Narrowed, "wide interval"), title)
	}
	for _, r := range e.Rows {
		if harness.Bad(r.Status) {
			p.say("%s %s: %s: %s\n", r.Kernel, title, r.Status, r.Reason)
		}
	}
	if e.Repetitions >= enoughToTell && 2*e.Disturbed > e.Repetitions && !p.told {
		p.told = true
		p.say("this machine is not quiet: %d of the first %d repetitions were disturbed; they are measured again as long as time is left; causes follow the table\n", e.Disturbed, e.Repetitions)
	}
	switch {
	case p.bar != nil:
		if e.Narrowed > 0 && !p.narrowing {
			p.bar.Reset()
			p.narrowing = true
		}
		p.bar.Describe(cli.Line(p.w, fmt.Sprintf("%s round %d %-11s", what, e.Round+1, e.Kernel), barColumns))
		p.bar.Set(min(barSteps-1, int(e.Done*barSteps))) // a bar that was full shows nothing any more
	case e.Complete:
		fmt.Fprintf(p.w, "%s: %s\n", what, words.Count(e.Round, "round"))
	}
}

// say writes a line in the place of the bar.
func (p *progress) say(format string, args ...any) {
	if p.bar != nil {
		p.bar.Clear()
	}
	fmt.Fprintf(p.w, format, args...)
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// printEstimate says what a sweep needs.
func printEstimate(w io.Writer, e harness.Estimate, predicted bool) {
	fmt.Fprintf(w, "%s in %s%s%s", words.Count(e.Points, "point"), words.Count(e.Groups, "group"),
		words.When(e.Unmeasured > 0, ", %d of them skipped or unsupported", e.Unmeasured),
		words.When(e.TooBig > 0, ", %d too big: up to %s for %s of free memory", e.TooBig, backend.FormatBytes(e.Needed), backend.FormatBytes(e.Free)))
	if predicted {
		fmt.Fprintln(w, "\nto compile, as far as they are not known from before")
		return
	}
	fmt.Fprintf(w, "\nmemory: %s, the largest point %s\ntime: %s\n", backend.FormatBytes(e.Bytes), backend.FormatBytes(e.Largest), duration(e))
}

// oneLine is the same in short.
func oneLine(e harness.Estimate, predicted bool) string {
	how := ", " + duration(e)
	if predicted {
		how = " to predict"
	}
	return fmt.Sprintf("%s in %s%s", words.Count(e.Points, "point"), words.Count(e.Groups, "group"), how)
}

// duration says how long a sweep takes if its kernels reach half of the peak:
// from the fewest rounds to the time budget.
func duration(e harness.Estimate) string {
	least := max(time.Second, e.Time.Round(time.Second)).String()
	switch {
	case e.Budgeted && e.Time > e.Budget:
		return "about " + least + ", a round of each point, past the time budget"
	case e.Budgeted:
		return "about " + least + ", the time budget"
	case e.Budget > 0:
		return "from " + least + " to " + max(time.Second, e.Budget.Round(time.Second)).String()
	}
	return least + " or more"
}
