package tune

import (
	"fmt"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/words"
	"matladder/problem"
	"matladder/stats"
	"matladder/tile"
)

// verdict says what was gained over the kernel's own candidates, and how sure the choice is.
func verdict(j tune.Job, r tuned.Row, m problem.Machine) string {
	s := fmt.Sprintf("blocks %s, %s%s", choice(r), stats.FormatSeconds(r.Evidence.Seconds), words.When(r.Evidence.Mode == tuned.Predicted, " predicted"))
	best, own := 0.0, tile.Blocks{}
	for _, b := range j.Kernel.Candidates(j.Problem, m) {
		if ratio, ok := r.Evidence.Tried[b]; ok && (best == 0 || ratio < best) {
			best, own = ratio, b
		}
	}
	switch {
	case own == r.Blocks:
		s += ", the kernel's own"
	case best > 0:
		s += fmt.Sprintf("; the kernel's own %s takes %.3f × as long", own, best)
	}
	return words.Joined("; ", s, confirmed(r.Evidence), then(r.Evidence), adjusted(r), searched(r.Evidence))
}

// confirmed says how the choice was made between the fastest and what would be taken without it.
func confirmed(e tuned.Evidence) string {
	c := e.Confirmed
	if c.Rounds == 0 {
		return ""
	}
	rival := fmt.Sprintf("%s takes %.3f × as long (%.3f to %.3f, %s)", c.Rival, c.Ratio, c.Low, c.High, words.Count(c.Rounds, "round"))
	if c.Low > 1 {
		return "confirmed: " + rival
	}
	return "kept: " + rival + " and is not clearly faster"
}

// then names the runner-up, unless it is the rival that the choice was confirmed against.
func then(e tuned.Evidence) string {
	rival := e.Confirmed.Rounds > 0 && e.RunnerUp == e.Confirmed.Rival
	return words.When(e.RunnerUp != tile.Blocks{} && !rival, "next: %s takes %.3f × as long", e.RunnerUp, 1+e.Behind)
}

// adjusted says what the parameters gain, or that none were found that do.
func adjusted(r tuned.Row) string {
	a := r.Evidence.Adjusted
	switch {
	case r.Params != "" && a.Rounds == 0:
		return fmt.Sprintf("%s: %.3f × as fast as without, best of %s", r.Params, a.Gain, words.Count(a.Tried, "adjustment"))
	case r.Params != "":
		return fmt.Sprintf("%s: %.3f × as fast as without (%.3f to %.3f, %s), best of %s", r.Params, a.Gain, a.Low, a.High,
			words.Count(a.Rounds, "round"), words.Count(a.Tried, "adjustment"))
	case a.Tried > 0:
		return fmt.Sprintf("none of %s is clearly faster", words.Count(a.Tried, "adjustment"))
	}
	return ""
}

// searched says how many candidates were looked at, and what ended the search.
func searched(e tuned.Evidence) string {
	timed := len(e.Tried)
	switch {
	case e.Ended == "" && e.Mode == tuned.Predicted:
		return words.Count(timed, "candidate") + " compiled"
	case e.Ended == "":
		return words.Count(timed, "candidate") + " raced"
	case e.Mode == tuned.Predicted:
		return fmt.Sprintf("%d of %s compiled, ended by %s", e.Launched, words.Count(e.Candidates, "candidate"), e.Ended)
	}
	return fmt.Sprintf("%d of %s launched, %d raced, ended by %s", e.Launched, words.Count(e.Candidates, "candidate"), timed, e.Ended)
}
