package main

import (
	"fmt"
	"os"

	"matladder/configs"
	"matladder/internal/cli"
	"matladder/tuned"
)

// noTable is the value of --tuned that leaves kernels to their own candidates.
const noTable = "none"

// tunedBlocks reads the table of tuned blocks that the flags ask for: a file, or the
// one that comes with bench for the machine; nil if there is none.
func (f *flags) tunedBlocks(dev *device) (*tuned.Table, error) {
	machine := tuned.MachineName(dev.Device(), dev.params.ISA, dev.params.Threads)
	text, file, ok := configs.Tuned(machine)
	switch f.tuned {
	case "":
	case noTable:
		ok = false
	default:
		var err error
		if text, err = os.ReadFile(f.tuned); err != nil {
			return nil, cli.Usagef("--tuned: %w", err)
		}
		file, ok = f.tuned, true
	}
	if !ok {
		return nil, nil
	}
	t, err := tuned.Parse(file, text)
	if err != nil {
		return nil, fmt.Errorf("--tuned: %w", err)
	}
	if t.Machine != machine {
		return nil, cli.Usagef("--tuned: %s is the table of %s, this is %s", file, t.Machine, machine)
	}
	return t, nil
}
