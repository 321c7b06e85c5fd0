package aot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/xla/aot/schedule"
)

// dumpFlags make libtpu write the three files of a schedule that package schedule
// reads, and none of its other three hundred, which take longer than compiling.
// Flags are read once in a process: a child has one folder for all it compiles.
const dumpFlags = "--xla_jf_dump_to=%s --xla_jf_dump_llo_pass_label_regex=final_(bundles|hlo-static-per-bundle-utilization)"

// dumpFolder is that of a slot, "" if no schedules are wanted.
func (c *Compiler) dumpFolder(slot int) string {
	if c.dumps == "" {
		return ""
	}
	return filepath.Join(c.dumps, strconv.Itoa(slot))
}

// dumpFlagsOf are what a child that dumps to a folder is started with.
func dumpFlagsOf(dump string, foreign bool) string {
	if dump == "" {
		return ""
	}
	flags := fmt.Sprintf(dumpFlags, dump)
	if foreign {
		flags += " --xla_mosaic_dump_to=" + dump
	}
	return flags
}

// empty takes away what the last compilation left.
func (s *slot) empty() error {
	if s.dump == "" {
		return nil
	}
	err := os.RemoveAll(s.dump)
	if err == nil {
		err = os.MkdirAll(s.dump, 0o700)
	}
	if err != nil {
		return fmt.Errorf("aot: folder for schedules: %w", err)
	}
	return nil
}

// schedules reads what the last compilation left in a folder.
func schedules(folder string, foreign *foreign, assume map[string][]int) ([]*schedule.Schedule, error) {
	dump := os.DirFS(folder)
	names, err := schedule.Kernels(dump)
	if err != nil {
		return nil, err
	}
	repeats, err := schedule.Repeats(dump, assume)
	if foreign != nil && repeats != nil {
		*foreign, err = foreignOf(dump, repeats, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: how often the compiler runs its kernels cannot be told: %w", backend.ErrUnsupported, err)
	}
	var all []*schedule.Schedule
	for _, name := range names {
		one, err := schedule.Read(dump, name)
		if format := (*schedule.FormatError)(nil); strings.HasPrefix(name, "custom-call") && errors.As(err, &format) && format.Line == 0 {
			continue // room that is set aside: nothing runs, and nothing is counted
		}
		if err != nil && foreign != nil {
			foreign.Unread[name] = err.Error()
			continue
		}
		if err != nil && strings.HasPrefix(name, "copy") {
			// Rows that are no whole tiles: the compiler lays an operand out beforehand.
			return nil, fmt.Errorf("%w: the compiler copies an array beside the kernel, and how long that takes its schedule does not tell", backend.ErrUnsupported)
		}
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		one.Times = max(1, repeats[name])
		all = append(all, one)
	}
	return all, nil
}
