package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"matladder/internal/childlog"
	"matladder/internal/cli"
)

// longestTurn is how much longer than its budget a turn may take before it is taken to hang
// and stopped.
const longestTurn = 10 * time.Minute

// measure runs the program once; its rows go to path. Points that went wrong are rows,
// not an error. A mistake in its command line is a *cli.UsageError.
func (p *program) measure(ctx context.Context, path string, budget time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, budget+longestTurn)
	defer cancel()
	args := append([]string{"--time-budget", budget.String(), "--out", path}, p.args...)
	cmd := exec.CommandContext(limited, p.path, args...)
	cmd.Env = append(os.Environ(), p.environment...)
	var output childlog.Writer
	cmd.Stderr = &output
	cmd.WaitDelay = 5 * time.Second // for it to end what it has started
	apart(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%s took longer than %s", p.name, budget+longestTurn)
	case !errors.As(err, &exit):
		return cli.Usagef("%s: %w", p.name, err)
	}
	said := cmp.Or(strings.TrimPrefix(output.Line(), "bench: "), "it said nothing")
	switch exit.ExitCode() {
	case cli.Usage:
		return cli.Usagef("%s: %s%s", p.name, said, p.hint)
	case cli.Failed:
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return nil // its rows say what went wrong
		}
	}
	return fmt.Errorf("%s: %s: %s", p.name, exit, said)
}
