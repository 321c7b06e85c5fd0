package sweepflag

import (
	"errors"

	"matladder/harness"
	"matladder/internal/cli"
)

// Mistake turns an error in what a sweep says (its file or its flags) into a usage error, for
// which the exit status is 2; other errors stay as they are.
func Mistake(err error) error {
	var config *harness.ConfigError
	if errors.As(err, &config) {
		return &cli.UsageError{Err: err}
	}
	return err
}
