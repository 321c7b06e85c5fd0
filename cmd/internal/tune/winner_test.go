package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/harness"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/thoroughtest"
	"matladder/lower/mosaic"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// stepCounter predicts that fewer grid steps are faster, so that the largest blocks win
// that the generation's memory takes: package mosaic counts that in its own way.
type stepCounter struct {
	backend.Backend
	device machine.Device
	target mosaic.Target

	mu    sync.Mutex
	asked map[tile.Blocks]backend.Params // what fitted, and with which parameters
}

func (s *stepCounter) Device() machine.Device { return s.device }

func (s *stepCounter) Predict(_ context.Context, programs []*tile.Program, params backend.Params) (backend.Prediction, error) {
	if err := s.target.Check(programs, mosaic.Options{VMEMBytes: params.VMEMBytes}); err != nil {
		return backend.Prediction{}, err
	}
	counts, err := model.Count(programs)
	if err != nil {
		return backend.Prediction{}, err
	}
	var b tile.Blocks
	for _, r := range programs[0].Refs {
		switch r.Name {
		case "a":
			b.M, b.K = r.Block[0], r.Block[1]
		case "b":
			b.N = r.Block[1]
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[b] = params
	return backend.Prediction{Elapsed: time.Second + time.Duration(counts.GridSteps)*time.Millisecond}, nil
}

// TestWinner: what wins a tune is what a sweep then runs, with as much fast memory; what
// won under a vmem_limit is taken only where it fits without.
func TestWinner(t *testing.T) {
	f, run := problem.MatmulFamily, thoroughtest.Choose(1, 5, 11)
	for _, key := range []string{"v5e", "v5p", "v6e", "v7x"} {
		device, err := machine.Find("tpu_" + key)
		if err != nil {
			t.Fatal(err)
		}
		target, err := mosaic.FindTarget(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []string{"bfloat16", "int8"} {
			asked, err := f.Parse(dtype)
			if err != nil {
				t.Fatal(err)
			}
			for _, number := range []int{4, 5} {
				for _, limit := range []int64{0, 8 << 20, target.VMEMBytes / 2} {
					if !run() {
						continue
					}
					t.Run(fmt.Sprintf("%s %s v%d limit %s", key, dtype, number, backend.FormatBytes(limit)), func(t *testing.T) {
						c := harness.Config{Family: f, Kernels: []int{number}, Batches: []int{1}, Precisions: []tile.Precision{tile.Default}, Inputs: []string{"uniform"},
							Sizes: []problem.Sizes{f.Equal(512), f.Equal(4096)}, Asked: []problem.Asked{asked}}
						testWinner(t, c, device, target, backend.Params{VMEMBytes: limit})
					})
				}
			}
		}
	}
}

func testWinner(t *testing.T, c harness.Config, chip machine.Device, target mosaic.Target, params backend.Params) {
	be := &stepCounter{device: chip, target: target, asked: map[tile.Blocks]backend.Params{}}
	dev := &device{opened: &registry.Device{Backend: be, Params: params, FastBytes: cmp.Or(params.VMEMBytes, target.DefaultVMEMBytes)}}
	flags := flags{config: c, most: math.MaxInt}
	flags.config.AllBlocks = true
	u := flags.tuner(dev)
	jobs, err := flags.jobs(t.Context(), dev)
	if err != nil {
		t.Fatal(err)
	}
	table := &tuned.Table{}
	for _, j := range jobs {
		clear(be.asked)
		row, err := u.Tune(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		table.Put(row)
		one := c
		one.Tuned, one.Sizes = table, []problem.Sizes{j.Problem.Sizes()}
		p := onlyPoint(t, one, chip, params)
		if r := p.Contender.(harness.Rung); r.Blocks != row.Blocks || r.Source != string(tuned.Exact) || !reflect.DeepEqual(p.Params, be.asked[row.Blocks]) {
			t.Errorf("%s won with %+v, the sweep runs %s, %s, with %+v", row.Blocks, be.asked[row.Blocks], r.Blocks, r.Source, p.Params)
		}
		for _, d := range []backend.Params{{}, {VMEMBytes: 16 << 20}} {
			checkFits(t, one, chip, target, d)
		}
	}
}

// onlyPoint is the one point of a sweep.
func onlyPoint(t *testing.T, c harness.Config, device machine.Device, params backend.Params) (only harness.Point) {
	t.Helper()
	c.FirstBlocks = true
	s, err := harness.Plan(t.Context(), c, device, params)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for p := range s.Points() {
		only = p
		n++
	}
	if n != 1 || only.Status != "" {
		t.Fatalf("%d points, %s", n, only)
	}
	return only
}

// checkFits: whatever a table says, what it makes a sweep run fits.
func checkFits(t *testing.T, c harness.Config, device machine.Device, target mosaic.Target, params backend.Params) {
	t.Helper()
	p := onlyPoint(t, c, device, params)
	r := p.Contender.(harness.Rung)
	programs, err := r.Kernel.Build(p.Problem, p.Variant, r.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if err := target.Check(programs, mosaic.Options{VMEMBytes: p.Params.VMEMBytes}); err != nil && r.Source != harness.CandidateBlocks {
		t.Errorf("%s from the table under %+v: %v", r.Blocks, params, err)
	}
}

// TestCheckTable: a tune under a vmem_limit does not fill the table of sweeps without.
func TestCheckTable(t *testing.T) {
	limited := &device{opened: &registry.Device{Params: backend.Params{VMEMBytes: 1 << 20}}, machine: "tpu_v6e"}
	free := &device{opened: &registry.Device{}, machine: "tpu_v6e"}
	if err := (&flags{}).checkTable(limited); cli.Status(err) != cli.Usage || !strings.Contains(err.Error(), "--out") {
		t.Error(err)
	}
	for _, err := range []error{(&flags{}).checkTable(free), (&flags{out: "own.yaml"}).checkTable(limited)} {
		if err != nil {
			t.Error(err)
		}
	}
}
