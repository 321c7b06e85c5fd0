package workshop

import (
	"context"
	"fmt"
	"math"

	"matladder/machine"
	blank "matladder/workshop/blanks/ex0"
	yours "matladder/workshop/exercises/ex0"
	solved "matladder/workshop/solutions/ex0"
)

var alikeAt512 = exerciseOf[alike](declares{"FLOPs": {yours.FLOPs, blank.FLOPs, solved.FLOPs}, "DeviceSeconds": {yours.DeviceSeconds, blank.DeviceSeconds, solved.DeviceSeconds}, "Ratio": {yours.Ratio, blank.Ratio, solved.Ratio}})

type alike struct {
	FLOPs         func(m, k, n int) float64
	DeviceSeconds func(flops, peak, share float64) float64
	Ratio         func(n int, peak, slow, fast, dispatch float64) float64
}

func (a alike) check(_ context.Context, r *Report) error {
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {512, 512, 512}, {4096, 4096, 4096}} {
		got, want := a.FLOPs(s[0], s[1], s[2]), 2*float64(s[0])*float64(s[1])*float64(s[2])
		call := fmt.Sprintf("FLOPs(%d, %d, %d)", s[0], s[1], s[2])
		if !r.near(call, got, want, "") {
			return nil
		}
	}
	if !r.near("DeviceSeconds(1e12, 2e14, 0.5)", a.DeviceSeconds(1e12, 2e14, 0.5), 0.01, " s") {
		return nil
	}
	d, err := machine.Find("v5e")
	if err != nil {
		return err
	}
	peak, dispatch := d.PeakAt("bfloat16", "").Value, d.DispatchSeconds.Value
	const slow, fast = 0.1, 0.9
	for _, n := range []int{512, 1024, 4096, 8192} {
		flops := 2 * math.Pow(float64(n), 3)
		want := (dispatch + flops/(peak*slow)) / (dispatch + flops/(peak*fast))
		call := fmt.Sprintf("Ratio(%d, …) of 10 %% and 90 %% of a v5e's peak", n)
		if !r.near(call, a.Ratio(n, peak, slow, fast, dispatch), want, " times as fast") {
			break
		}
	}
	return nil
}

// near adds whether a formula gives what it should, but for float64's roundings.
func (r *Report) near(call string, got, want float64, unit string) bool {
	return r.expect(math.Abs(got-want) <= 1e-9*math.Abs(want),
		fmt.Sprintf("%s = %.4g%s", call, got, unit),
		fmt.Sprintf("%s is %.4g%s, should be %.4g", call, got, unit, want))
}
