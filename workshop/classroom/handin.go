package classroom

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/files"
	"matladder/results"
	"matladder/workshop"
)

// A HandIn is what one person has made.
type HandIn struct {
	Name        string
	Machine     string // operating system, architecture and number of cores
	Predictions []Prediction
	Verdicts    []Verdict
	Rows        [][]results.Record // of one results file each, under the person's name as host
}

// A Verdict is what the check of an exercise says.
type Verdict struct {
	Exercise int
	Right    bool
}

// The limits of a file that comes from somebody else.
const (
	mostPart    = 64 << 20  // bytes of one part, unpacked
	mostAll     = 256 << 20 // of all
	mostParts   = 500
	mostPerson  = 40 // runes of a name
	formatFirst = "matladder workshop hand-in 1"
)

var personName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]*$`)

// CheckName says why a name cannot stand for a person in files and pictures.
func CheckName(name string) error {
	if !personName.MatchString(name) || len([]rune(name)) > mostPerson || strings.TrimSpace(name) != name {
		return fmt.Errorf("%q is no name to hand in under: letters, digits, spaces, dots, - and _, at most %d", name, mostPerson)
	}
	return nil
}

// Verdicts checks all exercises. The error is ctx's.
func Verdicts(ctx context.Context, check func(workshop.Exercise, context.Context) (*workshop.Report, error)) ([]Verdict, error) {
	var list []Verdict
	for _, e := range workshop.All {
		r, err := check(e, ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, Verdict{e.Number, r.OK()})
	}
	return list, nil
}

// Collect makes a hand-in of a name, results files, predictions and verdicts. Rows that
// were measured elsewhere, predicted or interpreted are kept as they are, but for the
// host of measured ones, which becomes the name.
func Collect(name string, paths []string, predictions []Prediction, verdicts []Verdict) (*HandIn, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	h := &HandIn{Name: name, Machine: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Predictions: predictions, Verdicts: verdicts}
	for _, path := range paths {
		f, err := results.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(f.Rows) > 0 {
			h.Rows = append(h.Rows, f.Rows)
		}
	}
	h.own()
	return h, nil
}

// own puts the person's name in place of that of the machine: in a class many laptops
// have one name, and others tell more than they should.
func (h *HandIn) own() {
	for _, rows := range h.Rows {
		for i := range rows {
			if rows[i].Mode == results.Measured {
				rows[i].Host = h.Name
			}
		}
	}
}

// Write writes h to the file path, which is replaced as a whole.
func (h *HandIn) Write(path string) error {
	var b, verdicts bytes.Buffer
	var failed []error
	z := zip.NewWriter(&b)
	part := func(name string, text []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(text)
		}
		failed = append(failed, err)
	}
	part("about.txt", []byte(formatFirst+"\n"+h.Name+"\n"+h.Machine+"\n"))
	part("predictions.csv", predictionsCSV(h.Predictions))
	for _, v := range h.Verdicts {
		fmt.Fprintf(&verdicts, "%d,%t\n", v.Exercise, v.Right)
	}
	part("verdicts.csv", verdicts.Bytes())
	for i, rows := range h.Rows {
		var text bytes.Buffer
		failed = append(failed, results.Write(&text, rows))
		part(fmt.Sprintf("results/%03d.csv", i), text.Bytes())
	}
	if err := errors.Join(append(failed, z.Close())...); err != nil {
		return err
	}
	if b.Len() > mostAll {
		return fmt.Errorf("%s would have %d MB, more than the %d that are read: hand in fewer files, with --input", path, b.Len()>>20, mostAll>>20)
	}
	return files.Write(path, b.Bytes())
}

var (
	resultsPart  = regexp.MustCompile(`^results/\d{3}\.csv$`)
	exercisePart = regexp.MustCompile(`^workshop/exercises/ex\d+/\w+\.go$`)
)

// OpenHandIn reads a file that Write made, or that somebody says it did: parts of other names are
// refused, and so is what is larger than a workshop makes. Bad rows are left out and told.
func OpenHandIn(path string) (h *HandIn, warnings []error, err error) {
	packed, err := files.ReadRegular(path, mostAll)
	if err != nil {
		return nil, nil, err
	}
	fail := func(format string, args ...any) (*HandIn, []error, error) {
		return nil, nil, fmt.Errorf("%s is no hand-in: %w", path, fmt.Errorf(format, args...))
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return fail("%w", err)
	}
	if len(z.File) > mostParts {
		return fail("%d parts, at most %d", len(z.File), mostParts)
	}
	h = &HandIn{}
	left := int64(mostAll)
	seen := map[string]bool{}
	for _, f := range z.File {
		if seen[f.Name] {
			return fail("two parts %q", f.Name)
		}
		seen[f.Name] = true
		text, err := unpack(f, min(left, mostPart))
		if err != nil {
			return fail("%q: %w", f.Name, err)
		}
		left -= int64(len(text))
		switch {
		case f.Name == "about.txt":
			lines := strings.Split(string(text), "\n")
			if len(lines) < 3 || lines[0] != formatFirst {
				return fail("about.txt does not begin with %q", formatFirst)
			}
			if err := CheckName(lines[1]); err != nil {
				return fail("%w", err)
			}
			h.Name, h.Machine = lines[1], clipped(lines[2])
		case f.Name == "predictions.csv":
			if h.Predictions, err = parsePredictions(bytes.NewReader(text), "predictions.csv"); err != nil {
				return fail("%w", err)
			}
		case f.Name == "verdicts.csv":
			if h.Verdicts, err = parseVerdicts(text); err != nil {
				return fail("%w", err)
			}
		case resultsPart.MatchString(f.Name):
			read, err := results.Read(bytes.NewReader(text), path+":"+f.Name)
			if err != nil {
				return fail("%w", err)
			}
			warnings = append(warnings, read.Warnings()...)
			h.Rows = append(h.Rows, read.Rows)
		case exercisePart.MatchString(f.Name): // of a page: for who unpacks it
		default:
			return fail("it has a part %q", f.Name)
		}
	}
	if h.Name == "" {
		return fail("it has no about.txt")
	}
	h.own()
	return h, warnings, nil
}

// clipped is a line of somebody else's for people.
func clipped(s string) string {
	s = strings.ToValidUTF8(oneLine([]byte(s)), "?")
	if r := []rune(s); len(r) > 2*mostPerson {
		s = string(r[:2*mostPerson]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

func unpack(f *zip.File, limit int64) ([]byte, error) {
	if !f.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("more than %d MB", limit>>20)
	}
	return text, err
}

func parseVerdicts(text []byte) ([]Verdict, error) {
	lines := csv.NewReader(bytes.NewReader(text))
	lines.FieldsPerRecord = 2
	rows, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("verdicts.csv: %w", err)
	}
	var list []Verdict
	for i, row := range rows {
		n, err := strconv.Atoi(row[0])
		right, boolErr := strconv.ParseBool(row[1])
		if err != nil || boolErr != nil || n < 0 || n >= len(workshop.All) || slices.ContainsFunc(list, func(v Verdict) bool { return v.Exercise == n }) {
			return nil, fmt.Errorf("verdicts.csv:%d: %q is no verdict", i+1, strings.Join(row, ","))
		}
		list = append(list, Verdict{n, right})
	}
	return list, nil
}

// HandIns lists the hand-ins that paths name: files, and all *.zip of folders.
func HandIns(paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			list = append(list, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		before := len(list)
		for _, e := range entries {
			if strings.HasSuffix(strings.ToLower(e.Name()), ".zip") {
				list = append(list, path+string(os.PathSeparator)+e.Name())
			}
		}
		if len(list) == before {
			return nil, fmt.Errorf("no hand-in (*.zip) in %s", path)
		}
	}
	return list, nil
}
