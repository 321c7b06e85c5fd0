package tuned

import (
	"matladder/backend"
	"matladder/configs"
	"matladder/machine"
)

// OfMachine reads the table of tuned block shapes and parameters that comes with
// matladder for a machine: a device with the instruction set and threads of params. It
// is nil if there is none.
func OfMachine(d machine.Device, params backend.Params) (*Table, error) {
	text, file, ok := configs.Tuned(MachineName(d, params.ISA, params.Threads))
	if !ok {
		return nil, nil
	}
	return Parse(file, text)
}
