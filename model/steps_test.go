package model

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

func build(t *testing.T, number int, p problem.Matmul, b tile.Blocks) *tile.Program {
	t.Helper()
	programs, err := kernels.All[number-1].Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	return programs[0]
}

// TestWorkOf has figures worked out by hand.
func TestWorkOf(t *testing.T) {
	for _, test := range []struct {
		name   string
		kernel int
		p      problem.Matmul
		b      tile.Blocks
		want   Work
	}{
		{"one step", 1, problem.New(100, 200, 300, tile.Float32), tile.Blocks{M: 100, K: 200, N: 300},
			Work{Steps: 1, FLOPs: 12e6, Bytes: 440e3, FirstBytes: 320e3, LastBytes: 120e3}},
		// 2 × 3 blocks of o, 4 steps of k, all operands bfloat16; the last block of o is 64 × 32.
		{"ragged", 5, problem.New(192, 512, 288, tile.BFloat16), tile.Blocks{M: 128, K: 128, N: 128},
			Work{Steps: 24, Parallel: true, FLOPs: 2 * 192 * 512 * 288,
				Bytes:      2 * (3*192*512 + 2*512*288 + 192*288),
				FirstBytes: 2 * 2 * 128 * 128, LastBytes: 2 * 64 * 32, Shares: []float64{0.25, 0.25}}},
		{"output is the accumulator", 3, problem.New(256, 256, 256, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128},
			Work{Steps: 8, Parallel: true, FLOPs: 1 << 25, Bytes: 4 * 5 * 256 * 256,
				FirstBytes: 4 * 2 * 128 * 128, LastBytes: 4 * 128 * 128, Shares: []float64{0.5}}},
	} {
		w, err := WorkOf(build(t, test.kernel, test.p, test.b))
		if err != nil || !reflect.DeepEqual(w, test.want) {
			t.Errorf("%s: have %+v, %v\nwant %+v", test.name, w, err, test.want)
		}
	}
}

func TestWorkOf_Conditions(t *testing.T) {
	b := tile.New("triangle")
	i, j := b.Axis("i", 4, tile.Parallel), b.Axis("j", 6, tile.Arbitrary)
	o := b.Out("o", tile.Float32, tile.Array(32, 8), tile.Block(8, 8).At(i, tile.Const(0)))
	b.When(j.First(), func() { b.Fill(o, 0) })
	b.When(tile.Test(j, tile.LE, i), func() { b.Fill(o, 1) })
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkOf(programs[0])
	if want := []float64{1. / 6, 10. / 24}; err != nil || !reflect.DeepEqual(w.Shares, want) {
		t.Errorf("shares %v, %v; want %v", w.Shares, err, want)
	}
	table := tile.New("table")
	a := table.Axis("a", 4, tile.Parallel)
	groups := table.Table("groups", 4)
	x := table.In("x", tile.Float32, tile.Array(16, 8), tile.Block(8, 8).At(groups.At(a), tile.Const(0)))
	y := table.Out("y", tile.Float32, tile.Array(32, 8), tile.Block(8, 8).At(a, tile.Const(0)))
	table.Store(y, x)
	if programs, err = table.Programs(); err != nil {
		t.Fatal(err)
	}
	if _, err := WorkOf(programs[0]); !errors.Is(err, ErrUncountable) {
		t.Errorf("of a table: %v", err)
	}
}

// simple is a device with round figures: 1e12 FLOP/s, 1e11 bytes/s, 1 GHz.
func simple(cores int) machine.Device {
	f := func(v float64) machine.Figure { return machine.Figure{Value: v, Source: "test"} }
	return machine.Device{
		Key: "simple", Kind: machine.TPU, Cores: cores, Peak: map[string]machine.Figure{"bfloat16": f(1e12 * float64(cores))},
		BandwidthBytesPerSecond: f(1e11 * float64(cores)), ClockHertz: f(1e9), StepOverheadSeconds: f(1e-6), OverlapExponent: f(1),
	}
}

func TestWork_On(t *testing.T) {
	// 100 steps, each 4 µs at the peak and 2 µs of transfers; 3 µs before, 1 µs after.
	w := Work{Steps: 100, Parallel: true, FLOPs: 400e6, Bytes: 20e6 + 400e3, FirstBytes: 300e3, LastBytes: 100e3}
	for _, test := range []struct {
		name   string
		cores  int
		change func(*Work, *machine.Device)
		micros float64
		limit  Limit
	}{
		{"one after the other", 1, func(*Work, *machine.Device) {}, 100*(4+2+1) + 4, Compute},
		{"plain maximum", 1, func(_ *Work, d *machine.Device) { d.OverlapExponent.Value = 1e6 }, 100*(4+1) + 4, Compute},
		{"bundles below the peak's time", 1, func(w *Work, _ *machine.Device) { w.Cycles = 3000 }, 100*(4+2+1) + 4, Compute},
		{"bundles above it", 1, func(w *Work, _ *machine.Device) { w.Cycles = 5000 }, 100*(5+2+1) + 4, Schedule},
		{"slow memory", 1, func(_ *Work, d *machine.Device) { d.BandwidthBytesPerSecond.Value /= 10 }, 100*(4+20+1) + 40, Memory},
		{"dear steps", 1, func(_ *Work, d *machine.Device) { d.StepOverheadSeconds.Value = 9e-6 }, 100*(4+2+9) + 4, Overhead},
		{"two cores share", 2, func(*Work, *machine.Device) {}, 50*(4+2+1) + 4, Compute},
		{"two cores, one works", 2, func(w *Work, _ *machine.Device) { w.Parallel = false }, 100*(4+2+1) + 4, Compute},
		{"one step", 1, func(w *Work, _ *machine.Device) {
			*w = Work{Steps: 1, FLOPs: 4e6, Bytes: 4e5, FirstBytes: 3e5, LastBytes: 1e5}
		}, 4 + 1 + 4, Compute},
	} {
		work, d := w, simple(test.cores)
		test.change(&work, &d)
		have, err := work.On(d, "bfloat16", "")
		if err != nil || math.Abs(have.Seconds*1e6-test.micros) > 1e-3 || have.Limit != test.limit {
			t.Errorf("%s: %.3f µs, %q, %v; want %v, %q", test.name, have.Seconds*1e6, have.Limit, err, test.micros, test.limit)
		}
	}
	unclocked := simple(1)
	unclocked.ClockHertz = machine.Figure{}
	if _, err := w.On(unclocked, "bfloat16", ""); err == nil || !strings.Contains(err.Error(), "simple: no clock is known") {
		t.Errorf("without a clock: %v", err)
	}
	if _, err := w.On(simple(1), "int8", ""); err == nil || !strings.Contains(err.Error(), "no peak of int8 is known") {
		t.Errorf("without a peak: %v", err)
	}
	if _, err := (Work{}).On(simple(1), "bfloat16", ""); err == nil {
		t.Error("no error for no work")
	}
}

// TestWork_OnEveryTPU: nothing is predicted to beat the peak or the bandwidth.
func TestWork_OnEveryTPU(t *testing.T) {
	for _, key := range []string{"tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7x"} {
		d, ok := machine.Lookup(key)
		if !ok {
			t.Fatal(key)
		}
		for _, b := range []tile.Blocks{{M: 128, K: 128, N: 128}, {M: 512, K: 1024, N: 1024}} {
			w, err := WorkOf(build(t, 5, problem.New(4096, 4096, 4096, tile.BFloat16), b))
			if err != nil {
				t.Fatal(err)
			}
			have, err := w.On(d, "bfloat16", "")
			least := max(float64(w.FLOPs)/d.Peak["bfloat16"].Value, float64(w.Bytes)/d.BandwidthBytesPerSecond.Value)
			if err != nil || have.Seconds < least || have.Seconds > 50*least {
				t.Errorf("%s %v: %v, %v; at least %v", key, b, have.Seconds, err, least)
			}
		}
	}
}
