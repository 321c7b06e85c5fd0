package stats

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
)

// Noisy marks figures of low confidence: a footnote, as ~ is no difference in benchstat.
const Noisy = "†"

type reason struct {
	cause        Causes
	what, advice string
}

// reasons say what disturbed a run, and what to do about it.
var reasons = []reason{
	{Waited, "its threads waited for processors while other programs ran", "end what else runs (top shows it), or take fewer --threads"},
	{Throttled, "a quota of processor time was spent (control group)", "raise the quota (docker --cpus, a limit of Kubernetes), or take fewer --threads"},
	{Stolen, "the host of this virtual machine gave its processors to others (steal)", "measure at another time, or on a machine of its own"},
	{Hot, "the processor or the GPU was slowed down to cool, or by its supply", "let it cool, and look at its supply and fans (nvidia-smi -q -d PERFORMANCE)"},
	{SlowCores, "the cores were slower: the control's arithmetic took longer", "look for a battery, heat, or a neighbour on the same cores"},
	{SlowMemory, "memory was slower: the control's read took longer", "end what else moves data, here or on the same host"},
}

// disturbance is what is to be said of the machine while the points were measured; "" if it was
// quiet enough: if a twentieth of the rows at most is left out, and no figure suffers.
func disturbance(summaries []Summary) string {
	const worthSaying = 20
	total, left, lowConfidence, none := 0, 0, 0, 0
	counts := map[Causes]int{}
	lost := 0 // repetitions of left that lacked processors
	for i := range summaries {
		s := &summaries[i]
		if s.Status != results.OK {
			continue
		}
		total, left = total+s.timing.total, left+s.timing.left
		if s.timing.lowConfidence {
			lowConfidence++
			if s.timing.left == s.timing.total {
				none++
			}
		}
		for causes, n := range s.timing.causes {
			if causes&lostTime != 0 {
				lost += n
			}
			for _, r := range reasons {
				if causes&r.cause != 0 {
					counts[r.cause] += n
				}
			}
		}
	}
	if left*worthSaying <= total && lowConfidence == 0 {
		return ""
	}
	var why, advice []string
	order := slices.Clone(reasons)
	slices.SortStableFunc(order, func(a, b reason) int { return counts[b.cause] - counts[a.cause] })
	slow := 0
	for _, r := range order {
		n := counts[r.cause]
		if n > 0 && r.cause&lostTime == 0 && r.cause != Hot && 2*lost >= left { // the control lacked processors as well
			slow = max(slow, n)
			continue
		}
		if n > 0 {
			why = append(why, fmt.Sprintf("%s (%d)", r.what, n))
			if n*4 >= left { // what is rare is not worth the trouble
				advice = append(advice, r.advice)
			}
		}
	}
	if slow > 0 {
		why = append(why, fmt.Sprintf("and the control took longer, as it would then too (%d)", slow))
	}
	text := fmt.Sprintf("the machine was disturbed in %d of %d repetitions of these points (%.0f %%): %s; ",
		left, total, 100*float64(left)/float64(total), strings.Join(why, ", "))
	if lowConfidence == 0 {
		return text + "figures leave them out"
	}
	text += fmt.Sprintf("%s marks noisy figures, of %s here with fewer than %d quiet ones", Noisy, words.Count(lowConfidence, "point"), enoughQuiet)
	if none > 0 {
		text += fmt.Sprintf("; %d of them had none and show disturbed ones", none)
	}
	return text + fmt.Sprintf(": %s, and measure again or give it a longer --time-budget", strings.Join(advice, "; "))
}

// lostTime are the causes that time was taken from what was measured.
const lostTime = Waited | Stolen | Throttled

// marked says why the figures of some points are marked; "" if there are none.
func marked(summaries []Summary, is func(s *Summary) bool, why string) string {
	n := len(each.That(each.Pointers(summaries), is))
	return words.When(n > 0, "%s marks noisy figures, of %s %s", Noisy, words.Count(n, "point"), why)
}

// fewSamples says that figures are marked for want of samples; "" if none is.
func fewSamples(summaries []Summary) string {
	return marked(summaries, func(s *Summary) bool { return s.Few() && !s.timing.lowConfidence },
		fmt.Sprintf("with fewer than %d samples: give it a longer --time-budget", fewestSamples))
}

// unfinished says of which files the sweep has not ended; "" if all have.
func unfinished(summaries []Summary) string {
	var files []string
	for _, s := range summaries {
		if s.Partial {
			files = each.With(files, s.Pos.File)
		}
	}
	return words.Between("the sweep of ", strings.Join(files, ", "), " has not ended")
}

// wideIntervals says why figures are marked that no row calls disturbed; "" if none is.
func wideIntervals(summaries []Summary) string {
	wide := func(e Estimate) bool { return e.Known() && !e.LowConfidence && !e.Holds() }
	return marked(summaries, func(s *Summary) bool {
		return wide(s.Time) || wide(s.Rate) || wide(s.PercentOfBaseline) || wide(s.OverBelow)
	}, "whose intervals span more than twofold: measure again, on a quieter machine or with a longer --time-budget")
}
