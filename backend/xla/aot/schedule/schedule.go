package schedule

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Schedule is the machine code of one kernel.
type Schedule struct {
	Kernel     string
	Bundles    int // all
	Times      int // that a launch runs it: more than once where the compiler put it into a loop of its own
	DelaySlots int // bundles after a branch that run whether it is taken or not; 0 if there is no loop

	Loops     []Loop   // in order of their first bundle, an outer one before its inner ones
	Regions   []Region // of loops, likewise
	Transfers []Transfer
	Units     []Unit

	file    string
	bundles []bundle
	slots   [][]int // by bundle, then by Units
	body    int     // index in Regions of what one grid step computes; -1 if none
}

// Span is bundles From to To, To left out.
type Span struct{ From, To int }

// Len is how many bundles a span has.
func (s Span) Len() int { return s.To - s.From }

func (s Span) contains(o Span) bool { return s.From <= o.From && o.To <= s.To }

// bundle is one instruction word, with what comments say in it.
type bundle struct {
	line  int    // in the file
	tag   string // PF: where a skipped region ends; LB: where a loop begins …
	depth int    // of loops around it
	text  string
}

var (
	bundleForm  = regexp.MustCompile(`^\s*(0x[0-9a-f]+|0)\s+([A-Z]{2})?\s*:\s*((?:> *)*)\{`)
	addressForm = regexp.MustCompile(`^\s*(?:0x[0-9a-f]+|0)\s`)
)

func (s *Schedule) readBundles(path, text string) error {
	s.file = path
	for i, line := range strings.Split(text, "\n") {
		m := bundleForm.FindStringSubmatch(line)
		if m == nil {
			if addressForm.MatchString(line) {
				return &FormatError{path, i + 1, "a bundle has the form: address tag : > { instructions }"}
			}
			if n := len(s.bundles); n > 0 { // comments go over several lines
				s.bundles[n-1].text += "\n" + line
			}
			continue
		}
		address, err := strconv.ParseInt(m[1], 0, 64)
		if err != nil || int(address) != len(s.bundles) {
			return &FormatError{path, i + 1, fmt.Sprintf("bundle %s where number %#x was expected", m[1], len(s.bundles))}
		}
		b := bundle{i + 1, m[2], strings.Count(m[3], ">"), line[len(m[0]):]}
		if n := len(s.bundles); n > 0 && b.depth == 0 && strings.HasPrefix(b.text, "}") {
			b.depth = s.bundles[n-1].depth // an empty bundle is not marked
		}
		s.bundles = append(s.bundles, b)
	}
	if len(s.bundles) == 0 {
		return &FormatError{path, 1, "no bundles in the file"}
	}
	s.Bundles = len(s.bundles)
	s.readTransfers()
	if err := s.readLoops(); err != nil {
		return err
	}
	return s.readRegions()
}

var analysisForm = regexp.MustCompile(`^\s*total scheduled bundles:\s*(\d+)\s*$`)

// readAnalysis compares with how many bundles the compiler itself counts.
func (s *Schedule) readAnalysis(path, text string) error {
	for i, line := range strings.Split(text, "\n") {
		if m := analysisForm.FindStringSubmatch(line); m == nil {
			continue
		} else if n, err := strconv.Atoi(m[1]); err != nil {
			return &FormatError{path, i + 1, "a count that is no number"}
		} else if n != s.Bundles {
			return &FormatError{path, i + 1, fmt.Sprintf("%d bundles, but %s has %d", n, s.file, s.Bundles)}
		}
		return nil
	}
	return &FormatError{path, 0, `no line "total scheduled bundles:"`}
}

// at is a fault found at a bundle.
func (s *Schedule) at(bundle int, format string, args ...any) error {
	return &FormatError{s.file, s.bundles[bundle].line, fmt.Sprintf(format, args...)}
}

// Transfer is an instruction that moves a block between HBM and VMEM. In the loop
// it is predicated: it runs in the steps whose block differs from the one before.
type Transfer struct {
	Kind     string // hbm_to_vmem, vmem_to_hbm
	Granules int64  // 0 if known only at run time, as for a block that overhangs
}

var (
	transferForm = regexp.MustCompile(`%(\d+) = dma\.(\w+) `)
	granuleForm  = regexp.MustCompile(`/\*size_in_granules=\*/(\d+)`)
)

func (s *Schedule) readTransfers() {
	seen := map[string]bool{}
	for _, b := range s.bundles {
		for _, m := range transferForm.FindAllStringSubmatchIndex(b.text, -1) {
			id, rest := b.text[m[2]:m[3]], b.text[m[1]:]
			// The check of an address names the transfer that it is for.
			if seen[id] || strings.HasSuffix(b.text[:m[0]], " for ") {
				continue
			}
			seen[id] = true
			rest, _, _ = strings.Cut(rest, ";;")
			t := Transfer{Kind: b.text[m[4]:m[5]]}
			if g := granuleForm.FindStringSubmatch(rest); g != nil {
				t.Granules, _ = strconv.ParseInt(g[1], 10, 64)
			}
			s.Transfers = append(s.Transfers, t)
		}
	}
}

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

// Read reads the schedule of a kernel. Where a dump holds several of that name it reads the latest.
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
