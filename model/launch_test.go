package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"matladder/machine"
)

// traced is a launch of XLA's own bfloat16 matmul on a chip, as somebody's trace has it.
type traced struct {
	Chip, Source string
	PState, From string // power state of the chip, and how it is known: by a flag, none, or inferred; "" for a chip without
	Size         int
	Limit        string // of VMEM, MiB; "" for the compiler's default
	Measured     float64
	Fitted       bool
	device       machine.Device
	work         Work
	windows      Work // with what moves by the blocks that libtpu notes of XLA's product
}

// readTraced builds the work of each row from what libtpu 0.0.51 makes of it.
func readTraced(t *testing.T) []traced {
	t.Helper()
	rows := table(t, "xla_traces.csv")
	var all []traced
	for _, r := range rows {
		var err error
		numbers := make([]float64, 9)
		for i := range numbers {
			if r[i] == "" || i == 0 {
				continue
			}
			if numbers[i], err = strconv.ParseFloat(r[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		x := traced{Chip: r[0], Source: r[10], Size: int(numbers[1]), Limit: r[2], Measured: numbers[8], Fitted: r[9] == "yes", PState: r[14], From: r[15]}
		x.work = Work{
			Steps: int64(numbers[3]), CoreSteps: int64(numbers[3]), Cycles: numbers[4], FLOPs: 2 * int64(x.Size*x.Size*x.Size),
			Bytes: int64(numbers[5]), FirstBytes: int64(numbers[6]), LastBytes: int64(numbers[7]),
		}
		x.windows = x.work
		for i, to := range []*int64{&x.windows.Bytes, &x.windows.FirstBytes, &x.windows.LastBytes} {
			if *to, err = strconv.ParseInt(r[11+i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		if x.device, err = machine.Find(x.Chip); err != nil {
			t.Fatal(err)
		}
		if x.PState != "" {
			x = x.in(t, x.PState)
		}
		all = append(all, x)
	}
	return all
}

// in is x in a power state of its chip.
func (x traced) in(t *testing.T, state string) traced {
	t.Helper()
	n, err := strconv.Atoi(state)
	if err == nil {
		x.device, err = x.device.InPState(n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// kernel is the time of the kernel alone, in µs, at the attained or the published
// bandwidth.
func (x traced) kernel(t *testing.T, attained bool) float64 {
	t.Helper()
	d := x.device
	if !attained {
		d.AttainedBytesPerSecond = machine.Figure{}
	}
	time, err := x.work.On(d, "bfloat16", "")
	if err != nil {
		t.Fatal(err)
	}
	return time.Seconds * 1e6
}

// band is what a launch may take, in µs, as backend/xla/aot has it where no power state is named.
func (x traced) band(t *testing.T) (least, most float64) {
	t.Helper()
	d, err := machine.Find(x.Chip)
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := d.Extremes()
	least, most = d.LaunchSeconds.Range()
	for _, end := range []struct {
		d  machine.Device
		to *float64
	}{{fast, &least}, {slow, &most}} {
		time, err := x.work.On(end.d, "bfloat16", "")
		if err != nil {
			t.Fatal(err)
		}
		*end.to += time.Seconds
	}
	return least * 1e6 / (1 + ModelError), most * 1e6 * (1 + ModelError)
}

// fitLaunch is the launch, in µs, with the least squares of the relative error over
// rows, in steps of 0.05.
func fitLaunch(t *testing.T, rows []traced, attained bool) float64 {
	best, least := 0., math.Inf(1)
	for step := 0; step <= 80; step++ {
		launch, loss := float64(step)/20, 0.
		for _, x := range rows {
			loss += math.Pow(math.Log((x.kernel(t, attained)+launch)/x.Measured), 2)
		}
		if loss < least {
			best, least = launch, loss
		}
	}
	return best
}

// launches is what docs/prediction.md says of small launches.
type launches struct {
	Rows                                  []launchRow
	Launch                                string
	WorstHeld, WorstPublished, WorstNone  float64
	MeanPublished                         float64 // as MeanMain, at the published bandwidth
	WorstSquare, MedianSquare, WorstOther float64 // of v7x, sizes of 512 on, rows whose power state is known; in the other state
	Squares                               int
	MeanMain, MeanWindows, MeanFree       float64 // of the sizes of errors of rows that were not fitted
	Unfitted                              int
}

type launchRow struct {
	traced
	Kernel, Predicted, None, Error, Held float64
	Other                                float64 // the error in the other of states 3 and 7
	Least, Most                          float64 // the band, µs
	Windows, Free                        float64 // errors by windows, and by them where moving hinders nothing
}

// TestLaunch fits the launch to small traces, compares with the chip table, and holds
// rows of a source that was left out to 15 %, and v7x's squares from 512 on to 8 % in the
// power state of their source. The attained bandwidth must serve rows that were not
// fitted better than the published one.
func TestLaunch(t *testing.T) { launchPage(t) }

func launchPage(t *testing.T) launches {
	all := readTraced(t)
	var fitted []traced
	for _, x := range all {
		if x.Fitted {
			fitted = append(fitted, x)
		}
	}
	whole, published := fitLaunch(t, fitted, true), fitLaunch(t, fitted, false)
	page := launches{Launch: fmt.Sprintf("%.2f", whole)}
	for _, d := range machine.All() {
		if d.LaunchSeconds.Known() && math.Abs(d.LaunchSeconds.Value*1e6-whole) > 1e-6 {
			t.Errorf("the fit gives %.2f µs, chips.yaml has %.3g s for %s", whole, d.LaunchSeconds.Value, d.Key)
		}
	}
	var squares []float64
	rate := func(x traced, have float64) float64 { return (x.Measured/have - 1) * 100 }
	for _, x := range all {
		kernel := x.kernel(t, true)
		row := launchRow{traced: x, Kernel: kernel, Predicted: kernel + whole, None: rate(x, x.kernel(t, false)), Error: rate(x, kernel+whole)}
		if x.PState != "" {
			other := "7"
			if x.PState == other {
				other = "3"
			}
			row.Other = rate(x, x.in(t, other).kernel(t, true)+whole)
			known := x.From != "inferred"
			if known && x.Size >= 512 {
				squares = append(squares, math.Abs(row.Error))
				page.WorstOther = max(page.WorstOther, math.Abs(row.Other))
			}
			if math.Abs(row.Other) < math.Abs(row.Error) && x.Size > 1024 {
				t.Errorf("%s %d of %s: p_state %s explains it better than %s", x.Chip, x.Size, x.Source, other, x.PState)
			}
		}
		if x.Fitted {
			var others []traced
			for _, o := range fitted {
				if o.Source != x.Source {
					others = append(others, o)
				}
			}
			row.Held = rate(x, kernel+fitLaunch(t, others, true))
			held := rate(x, x.kernel(t, false)+fitLaunch(t, others, false))
			page.WorstHeld = max(page.WorstHeld, math.Abs(row.Held))
			page.WorstPublished = max(page.WorstPublished, math.Abs(held))
			page.WorstNone = max(page.WorstNone, math.Abs(row.None))
		}
		t.Logf("%s %5d %-36s measured %9.3f µs predicted %9.3f %+6.1f %%, source left out %+6.1f %%, without launch %+6.1f %%",
			x.Chip, x.Size, x.Source, x.Measured, row.Predicted, row.Error, row.Held, row.None)
		if row.Least, row.Most = x.band(t); x.Measured < row.Least || x.Measured > row.Most {
			t.Errorf("%s %d of %s: %.3f µs is outside of %.3f to %.3f", x.Chip, x.Size, x.Source, x.Measured, row.Least, row.Most)
		}
		byWindows := x
		byWindows.work = x.windows
		row.Windows = rate(x, byWindows.kernel(t, true)+whole)
		byWindows.device.OverlapExponent.Value = 100
		row.Free = rate(x, byWindows.kernel(t, true)+whole)
		if !x.Fitted {
			page.MeanMain += math.Abs(row.Error)
			page.MeanPublished += math.Abs(rate(x, x.kernel(t, false)+published))
			page.MeanWindows += math.Abs(row.Windows)
			page.MeanFree += math.Abs(row.Free)
			page.Unfitted++
		}
		page.Rows = append(page.Rows, row)
	}
	n := float64(page.Unfitted)
	page.Squares, page.WorstSquare, page.MedianSquare = len(squares), slices.Max(squares), middle(squares)
	page.MeanPublished /= n
	if page.WorstHeld > 15 || page.WorstSquare > 8 {
		t.Errorf("a source left out is off by %.1f %%, squares of v7x by %.1f %%", page.WorstHeld, page.WorstSquare)
	}
	page.MeanMain, page.MeanWindows, page.MeanFree = page.MeanMain/n, page.MeanWindows/n, page.MeanFree/n
	if page.MeanMain >= page.MeanPublished {
		t.Errorf("rows that were not fitted are off by %.1f %% on the mean, by %.1f %% at the published bandwidth", page.MeanMain, page.MeanPublished)
	}
	t.Logf("rows that were not fitted: %.1f %% on the mean; by windows %.1f %%, where moving hinders nothing %.1f %%", page.MeanMain, page.MeanWindows, page.MeanFree)
	return page
}
