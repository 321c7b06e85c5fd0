//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"matladder/backend"

	binding "github.com/gomlx/go-xla/pjrt"
)

// longestCall is about how long one call of a loop may take. A call cannot be
// interrupted; launches that would take longer are shared over several calls,
// which then adds next to nothing to their time.
const longestCall = 2 * time.Second

// Run times launches. The transfer of their number is not part of the time.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	switch {
	case e.closed:
		return backend.Sample{}, errExecutableClosed
	case launches < 1:
		return backend.Sample{}, fmt.Errorf("pjrt: run: %d launches", launches)
	case e.in == nil:
		return backend.Sample{}, errors.New("pjrt: run: nothing was loaded")
	}
	if err := ctx.Err(); err != nil {
		return backend.Sample{}, err
	}
	sample := backend.Sample{Method: e.method}
	for left := launches; left > 0; {
		n := min(left, e.atOnce())
		elapsed, err := e.call(n)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return backend.Sample{}, errors.Join(err, e.forget(&e.out))
		}
		e.perLaunch = elapsed / time.Duration(n)
		sample.Elapsed += elapsed
		left -= n
	}
	return sample, nil
}

// atOnce is how many launches one call makes. The first call ever is a single
// launch, which says how long it takes.
func (e *executable) atOnce() int {
	if e.method == Wall || e.perLaunch == 0 {
		return 1
	}
	return int(min(math.MaxInt32, max(1, longestCall/e.perLaunch)))
}

// call executes the program once and keeps its outputs.
func (e *executable) call(n int) (time.Duration, error) {
	var args []*binding.Buffer
	if e.method == Loop {
		rounds, err := e.backend.scalar(n)
		if err != nil {
			return 0, err
		}
		defer rounds.free()
		args = append(args, rounds.Buffer)
	}
	for _, b := range e.in {
		args = append(args, b.Buffer)
	}
	if err := e.forget(&e.out); err != nil {
		return 0, err
	}
	execution := e.program.Execute(args...).DonateNone().OnDeviceByNum(e.backend.options.Device)
	start := time.Now()
	out, err := execution.Done() // waits for the device
	elapsed := time.Since(start)
	if err != nil {
		return 0, wrap("run "+e.launch.Name, err)
	}
	for _, b := range out {
		e.out = append(e.out, &buffer{Buffer: b})
	}
	return max(elapsed, 1), nil
}
