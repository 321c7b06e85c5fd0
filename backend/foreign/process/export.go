package process

import (
	"context"
	"fmt"
	"strconv"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/machine"
	"matladder/problem"
)

// Export returns what JAX makes of a function of a Python file for a problem and a TPU that this
// machine need not have: StableHLO as text. What is no function of JAX arrays is ErrUnsupported.
func (b *Backend) Export(ctx context.Context, p problem.Problem, on machine.Device) (string, error) {
	if err := b.Supports(p); err != nil {
		return "", fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	request, err := b.asks.request(b, backend.ProblemSpec{Problem: p})
	if err != nil {
		return "", err
	}
	process, err := b.process(ctx)
	if err != nil {
		return "", err
	}
	length, program := "", []byte(nil)
	if _, err = process.ask(ctx, request, nil, nil); err == nil {
		length, err = process.ask(ctx, "export "+jaxDevice(on), nil, nil)
	}
	if err == nil {
		n, wrong := strconv.Atoi(length)
		if wrong != nil || n < 1 || n > foreign.Largest {
			err = fmt.Errorf("the program is said to have %q bytes", length)
		}
		program = make([]byte, max(0, min(n, foreign.Largest)))
	}
	if err == nil {
		_, err = process.ask(ctx, "exported", nil, [][]byte{program})
	}
	if err != nil {
		process.end()
		return "", err
	}
	b.done(process)
	return string(program), nil
}

// jaxDevice describes a TPU to the runner: platform, cores and what JAX calls it.
func jaxDevice(d machine.Device) string {
	return fmt.Sprintf("tpu %d %s", max(1, d.Cores), d.Names[0])
}
