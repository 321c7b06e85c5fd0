package sweepflag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"matladder/internal/files"
	"matladder/results"

	"github.com/spf13/pflag"
)

// A Record says which sweep a results file is of. It lies beside the file, so that
// --resume --out FILE needs no other flag.
type Record struct {
	Args   []string // flags that were given, but for those of one execution alone
	Config string   // the file of the sweep, for messages
	Text   string   // of the sweep
	Runs   []string // executions that wrote to the file, the oldest first
	State  string   // results.Begun or results.Whole
}

// maxRuns bounds the executions that a record names, the latest of them.
const maxRuns = 1000

// Args returns the flags that were given of f, but for those called so.
func Args(f *pflag.FlagSet, without ...string) []string {
	var args []string
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains(without, flag.Name) {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				args = append(args, "--"+flag.Name+"="+v)
			}
			return
		}
		args = append(args, "--"+flag.Name+"="+flag.Value.String())
	})
	return args
}

// WriteRecord puts a record beside the results file out, for an execution that begins;
// executions that an earlier one names stay named.
func WriteRecord(out string, r Record, run string) error {
	if old, err := readRecord(out); err == nil {
		r.Runs = old.Runs
	}
	r.Runs = append(r.Runs, run)
	r.Runs = r.Runs[max(0, len(r.Runs)-maxRuns):]
	r.State = results.Begun
	return r.write(out)
}

// EndRecord says in the record of the results file out that its sweep has ended.
func EndRecord(out string) error {
	r, err := readRecord(out)
	if err != nil {
		return err
	}
	r.State = results.Whole
	return r.write(out)
}

func (r Record) write(out string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(results.NoteFile(out), append(text, '\n'))
}

// ReadRecord returns the record of the results file out; ok is false if that has no
// rows yet, so that any sweep may begin it. A file with rows that no record is of is an
// error: which sweep to go on with is not known.
func ReadRecord(out string) (r Record, ok bool, err error) {
	f, err := results.ReadFile(out)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, new(*results.SyntaxError)):
		return r, false, nil // to be started, or to be refused by who opens it
	case err != nil:
		return r, false, err
	}
	r, err = readRecord(out)
	switch {
	case err == nil && len(f.Rows) > 0 && !slices.Contains(r.Runs, f.Rows[len(f.Rows)-1].RunID):
		return r, false, fmt.Errorf("%s is of another file than %s, whose last run it does not name; give the flags of the sweep beside --resume", results.NoteFile(out), out)
	case errors.Is(err, fs.ErrNotExist) && len(f.Rows) == 0:
		return r, false, nil
	case errors.Is(err, fs.ErrNotExist):
		return r, false, fmt.Errorf("nothing says which sweep %s is of (%s is not there); give the flags of the sweep beside --resume", out, results.NoteFile(out))
	}
	return r, err == nil, err
}

func readRecord(out string) (r Record, err error) {
	text, err := files.ReadRegular(results.NoteFile(out), results.MaxNote)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w; remove it, and give the flags of the sweep beside --resume", results.NoteFile(out), err)
	}
	return r, nil
}
