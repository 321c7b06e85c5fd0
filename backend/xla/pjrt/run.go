//go:build linux && cgo

package pjrt

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"matladder/backend"
	"matladder/internal/each"

	binding "github.com/gomlx/go-xla/pjrt"
)

// longestCall is about how long one call of a loop may take. A call cannot be
// interrupted; launches that would take longer are shared over several calls,
// which then adds next to nothing to their time.
const longestCall = 2 * time.Second

// Run times launches. The transfer of their number is not part of the time.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if err := ctx.Err(); err != nil {
		return backend.Sample{}, err
	}
	sample := backend.Sample{Method: e.method, Operands: e.operands}
	for left := launches; left > 0; {
		n := min(left, e.atOnce())
		elapsed, err := e.call(n)
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return backend.Sample{}, errors.Join(err, e.forget(&e.out))
		}
		e.perLaunch = elapsed / time.Duration(n)
		sample.Elapsed += elapsed
		left -= n
	}
	return sample, nil
}

// A chain is queued on the device with the results of each of its launches, so
// that both are bounded.
const (
	longestChain = 256
	chainedBytes = 1 << 30
)

// atOnce is how many launches one call makes. The first call ever is a single
// launch, which says how long it takes.
func (e *executable) atOnce() int {
	if e.method == Wall || e.perLaunch == 0 {
		return 1
	}
	most := int64(math.MaxInt32)
	if e.method == Chain {
		each := int64(1)
		for _, a := range e.launch.Out {
			each += bytesOf(a)
		}
		most = min(longestChain, chainedBytes/each)
	}
	return int(max(1, min(most, int64(longestCall/e.perLaunch))))
}

// call executes the program once, or as a chain, and keeps its outputs.
func (e *executable) call(n int) (time.Duration, error) {
	var args []*binding.Buffer
	if e.method == Loop || e.method == Chain {
		count, err := e.backend.scalar(n) // of a chain only a link that nothing comes before
		if err != nil {
			return 0, err
		}
		defer count.free()
		args = append(args, count.Buffer)
	}
	in := e.in
	if e.method == Wall { // a program of one set
		in = e.in[e.turn*len(e.launch.In):][:len(e.launch.In)]
		e.turn = (e.turn + 1) % e.sets
	}
	args = append(args, each.Of(in, func(b *buffer) *binding.Buffer { return b.Buffer })...)
	if err := e.forget(&e.out); err != nil {
		return 0, err
	}
	t := e.backend.plugin
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.method == Chain {
		t.chained, t.results, t.sets = n, 1+len(e.launch.Out), e.sets
		defer func() { t.chained = 0 }()
	}
	execution := e.program.execute(args...).DonateNone().OnDeviceByNum(e.backend.options.Device)
	start := time.Now()
	out, err := execution.Done() // waits for the device
	elapsed := time.Since(start)
	if err != nil {
		return 0, wrap("run "+e.launch.Name, err)
	}
	if e.method == Chain {
		err, out = wrap("free", out[0].Destroy()), out[1:]
	}
	e.out = each.Of(out, func(b *binding.Buffer) *buffer { return &buffer{Buffer: b} })
	e.called = n
	return max(elapsed, 1), err
}
