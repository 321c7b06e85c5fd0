//go:build !(linux && amd64)

package aot

import "context"

const supported = false

// Child returns: no process here loads libtpu.
func Child() {}

type child struct{}

func start(Options) (*child, error) { return nil, ErrNoCompiler }

func (*child) ask(context.Context, request) (answer, error) { return answer{}, ErrNoCompiler }
func (*child) end()                                         {}
func (*child) last() string                                 { return "" }
