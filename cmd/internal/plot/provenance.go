package plot

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"matladder/internal/words"
	"matladder/results"
	"matladder/stats"
)

// errFaulty is for files that have nothing else.
var errFaulty = errors.New("all rows are by --fault, of outputs damaged on purpose; --as text and the FILE show them")

// whole leaves out rows by --fault, which show what the check says and nothing of kernels. A
// table of files that were named has them.
func (o *options) whole(rows []stats.Summary, warn func(error)) ([]stats.Summary, error) {
	if o.table != "" && len(o.inputs) > 0 {
		return rows, nil
	}
	var order []string
	count := map[string]int{}
	list := slices.DeleteFunc(slices.Clone(rows), func(s stats.Summary) bool {
		if s.Fault == "" {
			return false
		}
		if count[s.Pos.File] == 0 {
			order = append(order, s.Pos.File)
		}
		count[s.Pos.File]++
		return true
	})
	if len(list) == 0 && len(rows) > 0 {
		return nil, errFaulty
	}
	for _, file := range order {
		warn(fmt.Errorf("%s: points by --fault are left out (%d), their outputs were damaged on purpose", file, count[file]))
	}
	return list, nil
}

// provenance says what a reader of what was drawn should know of where it is from: files
// whose sweep has not ended, and machines other than this one, or several.
func (o *options) provenance(warn func(error)) {
	named := len(o.inputs) > 0
	here, _ := hostname()
	var files, chips []string
	hosts := map[string][]string{} // by chip: of several chips there is no common picture
	for i := range o.used {
		s := &o.used[i]
		if !slices.Contains(files, s.Pos.File) {
			files = append(files, s.Pos.File)
			if s.Partial {
				warn(fmt.Errorf("%s is partial: its sweep has not ended; to go on: bench --resume --out %s", s.Pos.File, s.Pos.File))
			}
			if !named && s.Mode == results.Measured && s.Host != "" && s.Host != here {
				warn(fmt.Errorf("%s is of another machine, %s; this one is %s", s.Pos.File, s.Host, here))
			}
		}
		chip := cmp.Or(s.Chip, s.Device)
		if s.Mode == results.Measured && s.Host != "" && !slices.Contains(hosts[chip], s.Host) {
			if hosts[chip] == nil {
				chips = append(chips, chip)
			}
			hosts[chip] = append(hosts[chip], s.Host)
		}
	}
	for _, chip := range chips {
		list := hosts[chip]
		if !named || len(list) < 2 {
			continue
		}
		warn(fmt.Errorf("measurements of %d machines with %s are shown together: %s", len(list), cmp.Or(chip, "an unknown chip"), words.First(list, 4, ", ")))
	}
}

// hostname names this machine; tests have rows of another one.
var hostname = os.Hostname
