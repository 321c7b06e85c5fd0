package bench

import (
	"matladder/harness/tuned"
	"matladder/internal/cli"
)

// noTable is the value of --tuned that leaves kernels to their own candidates.
const noTable = "none"

// tunedBlocks reads the table of tuned blocks that the flags ask for: a file, or the
// one that comes with bench for the machine; nil if there is none.
func (f *flags) tunedBlocks(dev *device) (*tuned.Table, error) {
	switch f.tuned {
	case "":
		return tuned.OfMachine(dev.Device(), dev.Params)
	case noTable:
		return nil, nil
	}
	t, err := tuned.ReadFile(f.tuned)
	if err != nil {
		return nil, cli.Input("tuned", err)
	}
	if machine := tuned.MachineName(dev.Device(), dev.Params.ISA, dev.Params.Threads); t.Machine != machine {
		return nil, cli.Usagef("--tuned: %s is the table of %s, this is %s", f.tuned, t.Machine, machine)
	}
	return t, nil
}
