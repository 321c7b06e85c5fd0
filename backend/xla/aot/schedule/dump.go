package schedule

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// FormatError is a dump that is not as this package knows dumps.
type FormatError struct {
	File string
	Line int // from 1; 0 if it is about the whole file
	Want string
}

func (e *FormatError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Want)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Want)
}

// Endings of the three files of a kernel. Before them a name has a time in
// nanoseconds, the kernel, and the number of a pass, which differs between programs.
const (
	bundlesEnd  = "-final_bundles.txt"
	analysisEnd = "-schedule-analysis_final_bundles.txt"
	slotsEnd    = "-final_hlo-static-per-bundle-utilization.txt"
)

var fileForm = regexp.MustCompile(`^(\d+)-(.+?)-(\d+)(-[a-z].*)$`)

// Kernels lists the kernels of a dump in order, the program around them left out.
func Kernels(dump fs.FS) ([]string, error) {
	files, err := list(dump)
	var names []string
	for _, f := range files {
		if f.end == bundlesEnd && !slices.Contains(names, f.kernel) {
			names = append(names, f.kernel)
		}
	}
	slices.Sort(names)
	return names, err
}

// file is one of a dump.
type file struct{ path, time, kernel, end string }

func list(dump fs.FS) ([]file, error) {
	entries, err := fs.ReadDir(dump, ".")
	if err != nil {
		return nil, fmt.Errorf("schedule dump: %w", err)
	}
	var files []file
	for _, e := range entries {
		m := fileForm.FindStringSubmatch(e.Name())
		// TLP is the top level program, <late-…> what starts and ends it.
		if m == nil || m[2] == "TLP" || strings.HasPrefix(m[2], "<") {
			continue
		}
		files = append(files, file{e.Name(), m[1], m[2], m[4]})
	}
	return files, nil
}

// Read reads the schedule of a kernel. Where a dump holds several of that name it
// reads the latest.
func Read(dump fs.FS, kernel string) (*Schedule, error) {
	files, err := list(dump)
	if err != nil {
		return nil, err
	}
	latest := ""
	for _, f := range files {
		if f.kernel == kernel && f.end == bundlesEnd && (len(f.time) > len(latest) || f.time > latest) {
			latest = f.time
		}
	}
	if latest == "" {
		names, _ := Kernels(dump)
		return nil, fmt.Errorf("schedule dump: no %q (there is: %s)", kernel, strings.Join(names, ", "))
	}
	s := &Schedule{Kernel: kernel, Times: 1}
	for _, part := range []struct {
		end  string
		read func(path, text string) error
	}{{bundlesEnd, s.readBundles}, {analysisEnd, s.readAnalysis}, {slotsEnd, s.readSlots}} {
		i := slices.IndexFunc(files, func(f file) bool {
			return f.kernel == kernel && f.time == latest && f.end == part.end
		})
		if i < 0 {
			return nil, &FormatError{File: latest + "-" + kernel + "-*" + part.end, Want: "no such file in the dump"}
		}
		text, err := fs.ReadFile(dump, files[i].path)
		if err != nil {
			return nil, fmt.Errorf("schedule dump: %w", err)
		}
		if err := part.read(files[i].path, string(text)); err != nil {
			return nil, err
		}
	}
	s.findBody()
	return s, nil
}
