package browser

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/model"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	"matladder/workshop"
)

// mostWalked is how many steps of a grid a page goes through.
const mostWalked = 1 << 18

// Shown is what Play shows of source.
type Shown struct {
	Mistakes       []Mistake
	Wrong          string // why there is no program
	Text           string // of the programs
	Sum            string // of Text: what was recorded of a program has it too
	Counts         *model.Counts
	Intensity      float64
	Dtype          string              // of the products
	Peak           float64             // of the chip, for Dtype
	Roofline       *model.Roofline     // nil where the chip has no such peak
	Recording      *traverse.Recording // nil where the grid is too large, or tables say what it does
	Fits           string              // how the fast memory compares with the chip's
	TooLarge       bool                // for it
	Mosaic, Triton string              // or why there is none
}

// Play shows the programs of source: JSON as package tile writes it, or Go that declares
// Program, a function without parameters that returns programs and an error.
func Play(ctx context.Context, source, chip string) (Shown, error) {
	programs, mistakes, err := programsOf(source)
	if mistakes != nil {
		return Shown{Mistakes: mistakes}, nil
	}
	if err == nil {
		_, err = tile.Bind(programs)
	}
	if err != nil {
		return Shown{Wrong: err.Error()}, nil
	}
	device, err := machine.Find(chip)
	if err != nil {
		return Shown{}, err
	}
	s := Shown{Text: tile.Text(programs)}
	sum := fnv.New64a()
	sum.Write([]byte(s.Text)) // into memory
	s.Sum = fmt.Sprintf("%x", sum.Sum64())
	if c, err := model.Count(programs); err == nil {
		dtype, precision := model.Multiplied(programs)
		s.Counts, s.Intensity, s.Dtype = &c, c.Intensity(), dtype.String()
		if r, ok := c.At(device, s.Dtype, precision.String()); ok {
			s.Roofline, s.Peak = &r, device.PeakAt(s.Dtype, precision.String()).Value
		}
		s.Fits, s.TooLarge = fits(c.FastBytes, device)
	}
	if each.Sum(programs, (*tile.Program).Steps) <= mostWalked {
		s.Recording, _ = traverse.Record(ctx, programs[0].Name, programs, nil, shownSteps) // none with tables
	}
	if device.Kind != machine.TPU {
		s.Mosaic = device.CommonName() + " is no TPU: choose one above for the text of its compiler."
	} else if l, err := mosaic.Lower(programs, mosaic.Options{}); err == nil {
		s.Mosaic = strings.Join(each.Of(l.Kernels, func(k mosaic.Kernel) string { return k.Body }), "\n")
	} else {
		s.Mosaic = err.Error()
	}
	if device.Kind != machine.GPU {
		s.Triton = device.CommonName() + " is no GPU: choose one above for the text of its compiler."
	} else if l, err := triton.Lower(programs, triton.Options{Target: triton.TargetOf(device.Key, int64(device.FastBytes.Value))}); err == nil {
		s.Triton = strings.Join(each.Of(l.Kernels, func(k triton.Kernel) string { return k.Body }), "\n")
	} else {
		s.Triton = err.Error()
	}
	return s, nil
}

// fits says how fast memory compares with a TPU's. Of a GPU's blocks some are in registers, which
// its compiler decides.
func fits(need int64, d machine.Device) (text string, tooLarge bool) {
	all, granted := int64(d.FastBytes.Value), int64(d.FastDefaultBytes.Value)
	switch {
	case d.Kind != machine.TPU:
		return "", false
	case need > all:
		return fmt.Sprintf("does not fit: %s has %s", d.CommonName(), traverse.FastMemory(all)), true
	case granted > 0 && need > granted:
		return fmt.Sprintf("does not fit the %s that a kernel gets on %s, unless it asks for more", traverse.FastMemory(granted), d.CommonName()), true
	}
	return fmt.Sprintf("fits %s", d.CommonName()), false
}

func programsOf(source string) (programs []*tile.Program, mistakes []Mistake, err error) {
	if strings.HasPrefix(strings.TrimSpace(source), "{") {
		programs, err = tile.ReadPrograms(strings.NewReader(source))
		return programs, nil, err
	}
	declared, mistakes := read("program.go", source)
	if mistakes != nil {
		return nil, mistakes, nil
	}
	build, ok := declared("Program").(func() ([]*tile.Program, error))
	if !ok {
		return nil, nil, fmt.Errorf("there is no func Program() ([]*tile.Program, error)")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: your code panics: %v", at, p)
		}
	}()
	programs, err = build()
	if err == nil && (len(programs) == 0 || slices.Contains(programs, nil)) {
		err = fmt.Errorf("Program returns no program")
	}
	return programs, nil, err
}

// Example is a program of the playground's menu.
type Example struct {
	Group, Name string
	Source      func() (string, error) `json:"-"`
}

// begun are exercises as they come, which are rungs, each with what Program returns of it. Their
// solutions are for who solves them.
var begun = []struct {
	exercise   int
	name, call string
}{
	{1, "v1", "problem.New(256, 256, 256, tile.Float32)"},
	{2, "v2", "problem.New(512, 512, 512, tile.Float32), tile.Blocks{M: 256, K: 512, N: 256}"},
	{5, "v3", "problem.New(512, 512, 512, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128}"},
	{5, "v4", "problem.New(1024, 1024, 1024, tile.BFloat16), tile.Blocks{M: 512, K: 256, N: 512}"},
}

var (
	turn    = regexp.MustCompile(`(?m)^\s*// YOUR TURN.*\n| // YOUR TURN.*$`)
	beside  = regexp.MustCompile(`(?s)\n// Roundings .*?\n}\n`)
	comment = regexp.MustCompile(`// Build writes the kernel.*\n`)
)

// Examples lists the menu: rungs in Go, then the kernels of each family as JSON.
func Examples() (list []Example) {
	for _, s := range begun {
		list = append(list, Example{"Go", s.name, func() (string, error) {
			e := workshop.All[s.exercise]
			text, err := e.Blank()
			_, text, _ = strings.Cut(text, "\npackage ")
			_, text, _ = strings.Cut(text, "\n") // its name
			text = comment.ReplaceAllString(beside.ReplaceAllString(turn.ReplaceAllString(text, ""), ""), "// Build writes the kernel.\n")
			text = strings.Replace(text, fmt.Sprintf("%q", fmt.Sprint("ex", s.exercise)), fmt.Sprintf("%q", s.name), 1)
			return "package kernel\n" + text + "\n// Program is what the page shows.\nfunc Program() ([]*tile.Program, error) {\n\treturn Build(" + s.call + ")\n}\n", err
		}})
	}
	for _, k := range kernels.All {
		list = append(list, Example{k.Family().Title, k.Family().Name + " " + k.Name(), func() (string, error) {
			programs, err := usual(k)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			err = tile.WritePrograms(&b, programs)
			return b.String(), err
		}})
	}
	return list
}

// usual are the programs of a kernel for sizes of 512 and the first dtype that it takes.
func usual(k kernels.Kernel) (programs []*tile.Program, err error) {
	f := k.Family()
	for _, words := range slices.Concat(f.Dtypes, []string{"mxfp8"}) {
		asked, wrong := f.Parse(words)
		if wrong != nil {
			continue
		}
		p := f.Make(f.Equal(512), asked)
		if err = k.Supports(p); err == nil {
			blocks := k.Candidates(p, problem.Machine{Parallel: 2})
			return k.Build(p, "", blocks[0])
		}
	}
	return nil, err
}
