package process

import (
	"context"
	"fmt"
	"strconv"

	"matladder/backend"
	"matladder/problem"
)

// Export returns what JAX makes of a function of a Python file for a problem and a platform
// that this machine need not have, such as tpu: StableHLO as text. What is no function of
// JAX arrays is ErrUnsupported.
func (b *Backend) Export(ctx context.Context, p problem.Problem, platform string) (string, error) {
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
		length, err = process.ask(ctx, "export "+platform, nil, nil)
	}
	if err == nil {
		n, wrong := strconv.Atoi(length)
		if wrong != nil || n < 1 || n > longest {
			err = fmt.Errorf("the program is said to have %q bytes", length)
		}
		program = make([]byte, max(0, min(n, longest)))
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

// longest is how many bytes a program may have.
const longest = 64 << 20
