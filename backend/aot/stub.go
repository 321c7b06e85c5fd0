//go:build !(linux && amd64)

package aot

import (
	"context"
	"time"
)

const supported = false

// Child returns: no process here loads libtpu.
func Child() {}

// child is never started.
type child struct{}

func start(Options, string) (*child, error) { return nil, ErrNoCompiler }

func (*child) ask(context.Context, request) (answer, error) { return answer{}, ErrNoCompiler }

func (*child) end(time.Duration) string { return "" }
