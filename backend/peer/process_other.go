//go:build !linux

package peer

import (
	"context"
	"errors"
)

// Available returns why peers cannot run on this system, or nil.
func Available() error { return errLinux }

var errLinux = errors.New("peers run on Linux alone")

type process struct{}

func start(Options) (*process, error) { return nil, errLinux }

func (*process) greeting(context.Context) (string, error) { return "", errLinux }

func (*process) ask(context.Context, string, [][]byte, []byte) (string, error) { return "", errLinux }

func (*process) end() {}
