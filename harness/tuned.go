package harness

import (
	"matladder/backend"
	"matladder/chips"
	"matladder/configs"
	"matladder/tuned"
)

// MachineTable reads the table of tuned block shapes and parameters that comes with
// matladder for a machine: a device with the instruction set and threads of params. It
// is nil if there is none.
func MachineTable(d chips.Device, params backend.Params) (*tuned.Table, error) {
	text, file, ok := configs.Tuned(tuned.MachineName(d, params.ISA, params.Threads))
	if !ok {
		return nil, nil
	}
	return tuned.Parse(file, text)
}
