package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"matladder/harness"
	"matladder/results"
	"matladder/results/bundle"
	"matladder/stats"
	"matladder/tile"
)

// writeBundle writes the results file with all that it is to be verified by as one file.
func (f *flags) writeBundle(ctx context.Context, dev *device, out string) error {
	content := map[string][]byte{}
	var err error
	if content[bundle.Rows], err = os.ReadFile(out); err != nil {
		return err
	}
	if content[bundle.Sweep], err = os.ReadFile(results.NoteFile(out)); err != nil {
		return err
	}
	file, err := results.Read(bytes.NewReader(content[bundle.Rows]), bundle.Rows)
	if err != nil {
		return err
	}
	points := stats.Summarize(file.Rows)
	var text bytes.Buffer
	if err := stats.WriteTable(&text, "csv", points); err != nil {
		return err
	}
	content[bundle.Figures] = text.Bytes()
	for i, s := range points {
		_, programs, err := harness.Rebuild(&s.Record)
		if err != nil {
			continue // of what has no programs here: the vendor's, a library's, a function's
		}
		var code bytes.Buffer
		if err := tile.WritePrograms(&code, programs); err != nil {
			return err
		}
		name := fmt.Sprint(bundle.Programs, i+1)
		content[name+".json"], content[name+".txt"] = code.Bytes(), []byte(tile.Text(programs))
	}
	var environment bytes.Buffer
	fmt.Fprintf(&environment, "bench %s\n%s, %s/%s, %d processors\n", strings.Join(f.record.Args, " "), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	printMachine(ctx, &environment, dev, time.Now())
	content[bundle.Environment] = environment.Bytes()
	return bundle.Write(f.bundle, content)
}
