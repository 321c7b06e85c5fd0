//go:build linux && cgo

package pjrt

import (
	"errors"

	binding "github.com/gomlx/go-xla/pjrt"
)

// A program is what the compiler made, and can be compiled again.
type program struct {
	*binding.LoadedExecutable              // nil until compiled
	compile                   func() error // makes it
	ran                       bool         // since then
}

// execute begins a call of the program.
func (p *program) execute(in ...*binding.Buffer) *binding.ExecutionConfig {
	p.ran = true
	return p.Execute(in...)
}

// forgetPacked recompiles the program if it has run. On some processors XLA's CPU
// plugin packs B once, where that is an argument of the program, and knows it by its
// address from then on, so that other numbers there would not be seen.
func (p *program) forgetPacked() error {
	if !p.ran {
		return nil
	}
	err := errors.Join(p.close(), p.compile())
	p.ran = err != nil // then the next try compiles
	return err
}

// close frees the program. Closing twice is no error.
func (p *program) close() error { return wrap("close", p.Destroy()) }
