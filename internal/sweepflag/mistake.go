package sweepflag

import (
	"errors"

	"matladder/harness"
	"matladder/internal/cli"
)

// Mistake marks an error in a sweep that a person wrote as one in how the command was called.
func Mistake(err error) error {
	var config *harness.ConfigError
	if errors.As(err, &config) {
		return &cli.UsageError{Err: err}
	}
	return err
}
