// Package again is a backend too many: one core of this machine.
package again

import "matladder/backend/cpu"

// Backend runs on one core.
type Backend struct{ *cpu.Backend }

// Name is again.
func (Backend) Name() string { return "again" }

// Open takes the core.
func Open() (Backend, error) {
	b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
	return Backend{b}, err
}
