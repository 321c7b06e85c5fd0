package counters

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Glance reads Switches.
func (*Reader) Glance() Reading {
	var now Reading
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		now.Switches, now.Known = usage.Nivcsw, Switches
	}
	return now
}

// Read adds Load.
func (r *Reader) Read() Reading {
	now := r.Glance()
	// struct loadavg: three averages as uint32, then, aligned, their scale as long.
	if b, err := unix.SysctlRaw("vm.loadavg"); err == nil && len(b) >= 24 {
		if scale := binary.LittleEndian.Uint64(b[16:]); scale > 0 {
			now.Load, now.Known = float64(binary.LittleEndian.Uint32(b))/float64(scale), now.Known|Load
		}
	}
	return now
}
