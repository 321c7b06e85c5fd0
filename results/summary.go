package results

import (
	"fmt"
	"slices"
	"time"
)

// A Summary is what the rows of one point in one file amount to.
type Summary struct {
	Record // the point's first row that was used; its Status and Reason are the summary's

	Rows   int       // rows behind the summary
	Latest time.Time // start of the last run that has rows of the point

	Time     Estimate // seconds a launch on the device
	Dispatch Estimate // seconds a call beside its launches; loop only
	Rate     Estimate // FLOP/s, OP/s for integers: FLOPCount / Time

	PercentOfPeak     Estimate // of the dtype's peak on this device
	PercentOfBaseline Estimate // speed against Baseline in the same group, paired by round
	Below             string   // the rung below in the same group, "" if there is none
	OverBelow         Estimate // speed against Below at its best, paired by round

	Warnings []string // for the reader of the figures, one line each

	timing timing
	id     pointID
}

// A groupID is a group within one file: figures of different files were taken
// under different conditions and are not paired.
type groupID struct {
	file string
	GroupKey
}

type pointID struct {
	file string
	PointKey
}

// Summarize returns one summary per point and file, in the order in which
// points first appear. The rung below is found by CompareKernels.
//
// Only ok rows count, and they count only if no row of the point is wrong or
// impossible: such a row condemns the point, its earlier rows included. A
// point without usable rows keeps the status and reason of its last row.
func Summarize(rows []Record) []Summary {
	var order []pointID
	points := map[pointID][]*Record{}
	for i := range rows {
		id := pointID{rows[i].Pos.File, rows[i].Point()}
		if points[id] == nil {
			order = append(order, id)
		}
		points[id] = append(points[id], &rows[i])
	}
	list := make([]Summary, len(order))
	groups := map[groupID][]*Summary{}
	for i, id := range order {
		list[i] = summarizePoint(id, points[id])
		for _, r := range points[id] {
			if r.StartedAt.After(list[i].Latest) {
				list[i].Latest = r.StartedAt
			}
		}
		group := groupID{id.file, id.GroupKey}
		groups[group] = append(groups[group], &list[i])
	}
	for _, group := range groups {
		compareGroup(group)
	}
	return list
}

func summarizePoint(id pointID, rows []*Record) Summary {
	judge, ok := judgeRows(rows)
	if judge.Status != OK {
		return Summary{Record: *judge, Rows: len(rows), id: id}
	}
	s := Summary{Record: *ok[0], Rows: len(ok), id: id, timing: timePoint(ok)}
	s.worstErrors(ok)
	s.Warnings = append(s.Warnings, s.timing.warnings...)
	if last := rows[len(rows)-1]; last.Status != OK {
		s.warn("ends in %s at round %d: %s", last.Status, last.Round, firstLine(last.Reason))
	}
	s.Time = estimate(s.timing.samples)
	s.Dispatch = estimate(s.timing.dispatch)
	if s.Mode == Measured && s.Time.Known() && !s.Time.Sure() {
		s.warn("fewer than 6 samples: the interval is their range, below 95 %% confidence")
	}
	if s.Time.Known() && !(s.Time.Median > 0) { // or NaN, of times that overflow
		s.warn("the slope over launch counts is not positive: too few launches to tell time from noise")
		s.Time = Estimate{}
	}
	if !s.Time.Known() {
		return s
	}
	flops, _ := FLOPCount(s.Batch, s.M, s.K, s.N)
	s.Rate = s.Time.under(float64(flops))
	if s.Time.Lo <= 0 {
		s.warn("the interval of the time reaches 0: the rate has no upper bound")
	}
	if s.PeakFLOPs > 0 {
		s.PercentOfPeak = s.Rate.scale(100 / s.PeakFLOPs)
	}
	return s
}

// judgeRows returns the row whose status is the point's, and the ok rows.
func judgeRows(rows []*Record) (judge *Record, ok []*Record) {
	for _, r := range rows {
		switch r.Status {
		case OK:
			ok = append(ok, r)
		case Wrong, Impossible:
			judge = r
		}
	}
	switch {
	case judge != nil:
		return judge, ok
	case ok != nil:
		return ok[0], ok
	}
	return rows[len(rows)-1], nil
}

// worstErrors makes the summary's errors the largest of its rows, and the
// signal-to-noise ratio the smallest.
func (s *Summary) worstErrors(rows []*Record) {
	for _, r := range rows {
		s.ErrOverBound = larger(s.ErrOverBound, r.ErrOverBound)
		s.RelErr = larger(s.RelErr, r.RelErr)
		s.QuantRelErr = larger(s.QuantRelErr, r.QuantRelErr)
		s.QuantMaxErr = larger(s.QuantMaxErr, r.QuantMaxErr)
		if snr := r.QuantSNRdB; snr.Known && (!s.QuantSNRdB.Known || snr.Value < s.QuantSNRdB.Value) {
			s.QuantSNRdB = snr
		}
	}
}

func larger(a, b Optional[float64]) Optional[float64] {
	if !a.Known || b.Known && b.Value > a.Value {
		return b
	}
	return a
}

func (s *Summary) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

// usable reports whether the summary has a time to compare with.
func (s *Summary) usable() bool { return s.Status == OK && s.Time.Known() }
