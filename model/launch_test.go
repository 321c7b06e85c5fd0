package model

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"matladder/machine"
)

// traced is a launch of XLA's own bfloat16 matmul on a chip, as somebody's trace has it.
type traced struct {
	Chip, Source string
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
		x := traced{Chip: r[0], Source: r[10], Size: int(numbers[1]), Limit: r[2], Measured: numbers[8], Fitted: r[9] == "yes"}
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
		all = append(all, x)
	}
	return all
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

// band is what a launch may take, in µs, as backend/xla/aot has it.
func (x traced) band(t *testing.T) (least, most float64) {
	t.Helper()
	slow, fast := x.device.Extremes()
	least, most = x.device.LaunchSeconds.Range()
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
	Rows                                 []launchRow
	Launch                               string
	WorstHeld, WorstPublished, WorstNone float64
	MeanMain, MeanWindows, MeanFree      float64 // of the sizes of errors of rows that were not fitted
	Unfitted                             int
}

type launchRow struct {
	traced
	Kernel, Predicted, None, Error, Held float64
	Least, Most                          float64 // the band, µs
	Windows, Free                        float64 // errors by windows, and by them where moving hinders nothing
}

// TestLaunch fits the launch to small traces, compares with the chip table, and holds
// rows of a source that was left out to 15 %. The attained bandwidth must serve such
// rows better than the published one.
func TestLaunch(t *testing.T) { launchPage(t) }

func launchPage(t *testing.T) launches {
	all := readTraced(t)
	var fitted []traced
	for _, x := range all {
		if x.Fitted {
			fitted = append(fitted, x)
		}
	}
	whole := fitLaunch(t, fitted, true)
	page := launches{Launch: fmt.Sprintf("%.2f", whole)}
	for _, d := range machine.All() {
		if d.LaunchSeconds.Known() && math.Abs(d.LaunchSeconds.Value*1e6-whole) > 1e-6 {
			t.Errorf("the fit gives %.2f µs, chips.yaml has %.3g s for %s", whole, d.LaunchSeconds.Value, d.Key)
		}
	}
	rate := func(x traced, have float64) float64 { return (x.Measured/have - 1) * 100 }
	for _, x := range all {
		kernel := x.kernel(t, true)
		row := launchRow{traced: x, Kernel: kernel, Predicted: kernel + whole, None: rate(x, x.kernel(t, false)), Error: rate(x, kernel+whole)}
		if x.Fitted {
			var others []traced
			for _, o := range fitted {
				if o.Source != x.Source {
					others = append(others, o)
				}
			}
			row.Held = rate(x, kernel+fitLaunch(t, others, true))
			published := rate(x, x.kernel(t, false)+fitLaunch(t, others, false))
			page.WorstHeld = max(page.WorstHeld, math.Abs(row.Held))
			page.WorstPublished = max(page.WorstPublished, math.Abs(published))
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
			page.MeanWindows += math.Abs(row.Windows)
			page.MeanFree += math.Abs(row.Free)
			page.Unfitted++
		}
		page.Rows = append(page.Rows, row)
	}
	if page.WorstHeld > 15 || page.WorstHeld >= page.WorstPublished {
		t.Errorf("a source left out is off by %.1f %%, by %.1f %% at the published bandwidth", page.WorstHeld, page.WorstPublished)
	}
	n := float64(page.Unfitted)
	page.MeanMain, page.MeanWindows, page.MeanFree = page.MeanMain/n, page.MeanWindows/n, page.MeanFree/n
	t.Logf("rows that were not fitted: %.1f %% on the mean; by windows %.1f %%, where moving hinders nothing %.1f %%", page.MeanMain, page.MeanWindows, page.MeanFree)
	return page
}
