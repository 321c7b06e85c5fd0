package process

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/machine"
	"matladder/problem"
)

// Export returns what is made of a function of a Python file for a problem and a device that this
// machine need not have: of a function of JAX for a TPU StableHLO as text; of a kernel of Triton for a GPU,
// JSON of its text and of what it is launched with (ttir.ReadLaunch).
// What is neither is ErrUnsupported.
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
		length, err = process.ask(ctx, "export "+deviceWords(on), nil, nil)
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

// deviceWords describes a device to the runner: of a TPU platform, cores and what JAX calls it, of a GPU its
// compute capability in place of cores.
func deviceWords(d machine.Device) string {
	if d.Kind == machine.GPU {
		return fmt.Sprintf("cuda %s %s", strings.Trim(d.Arch, "sm_a"), d.Names[0])
	}
	return fmt.Sprintf("tpu %d %s", max(1, d.Cores), d.Names[0])
}
