package problem

import (
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/internal/known"
	"matladder/tile"
)

// Family is a kind of problem: what its sizes are called, what else may be asked, and how a problem
// is made of both. Commands, sweeps, tables and rows know families by this alone.
type Family struct {
	Name   string // the word of sweeps, flags and rows
	Title  string // what is computed, for people: matrix products
	Sizes  []Size // those without a default first
	Figure Figure // what its speed is told in
	Pieces bool   // a block may go through in pieces of its last side: their length stands behind the sides

	// Dtypes are those of a sweep that names none, spelled as Parse takes them.
	Dtypes []string
	// Examples are asked for beside Dtypes where versions of kernels are told apart: one for
	// each way in which a kernel builds another program.
	Examples []string
	// Sample is small, ragged, and larger than one block of a damaged tile: on it the check
	// is tested with injected faults before anything is measured.
	Sample Sizes

	// Parse reads what is asked but for the sizes: a dtype, and behind colons what the family
	// knows beside.
	Parse func(words string) (Asked, error)
	// Complete fills in what is usual where a is silent and checks the whole.
	Complete func(a Asked) (Asked, error)
	// Make returns the problem. It is not validated.
	Make func(s Sizes, a Asked) Problem
}

// Size is a size that a family names.
type Size struct {
	Name    string
	Default int // where a problem does not say; 0 if it must
}

// BatchSize is the name of a size that counts equal problems at once: sweeps have a key for it.
const BatchSize = "batch"

// Register adds a family to those of this program. It panics on a mistake, which is one
// of the program: call it in an init function, or in a test before others begin.
func Register(f *Family) {
	switch {
	case f.Name == "" || f.Parse == nil || f.Complete == nil || f.Make == nil || len(f.Dtypes) == 0:
		panic(fmt.Sprintf("problem: family %q lacks a name, dtypes, or a way to make a problem", f.Name))
	case f.Sample == Sizes{} || f.required() == 0 || len(f.Sizes) > MostSizes:
		panic(fmt.Sprintf("problem: family %s lacks a sample, or has no sizes, or more than %d", f.Name, MostSizes))
	}
	if _, err := Find(f.Name); err == nil {
		panic("problem: two families are called " + f.Name)
	}
	families = append(families, f)
	gob.Register(f.Make(f.Sample, Asked{}))
}

// Families lists the families of this program, matmul first.
func Families() []*Family { return slices.Clone(families) }

// Find returns the family of a name.
func Find(name string) (*Family, error) {
	return known.Find("problem family", name, families, func(f *Family) string { return f.Name })
}

// required is how many sizes have no default.
func (f *Family) required() int {
	n := 0
	for n < len(f.Sizes) && f.Sizes[n].Default == 0 {
		n++
	}
	return n
}

// Index is the place of a size in Sizes.
func (f *Family) Index(size string) (i int, ok bool) {
	i = slices.IndexFunc(f.Sizes, func(s Size) bool { return s.Name == size })
	return i, i >= 0
}

// Equal returns sizes that are all n, but those with a default, which have that.
func (f *Family) Equal(n int) Sizes {
	s := f.defaults()
	for i := range f.required() {
		s[i] = n
	}
	return s
}

func (f *Family) defaults() Sizes {
	var s Sizes
	for i, size := range f.Sizes {
		s[i] = size.Default
	}
	return s
}

// ParseSizes reads sizes as flags and sweeps spell them: one number for all that have no
// default (512), one for each of these joined by x or × in their order (512x1024x2048),
// or each with its name, joined by colons (m=512:k=1024:n=2048:batch=8).
func (f *Family) ParseSizes(text string) (Sizes, error) {
	if strings.Contains(text, "=") {
		s, err := f.named(strings.Split(text, ":"))
		if err != nil {
			return s, fmt.Errorf("size %q: %w", text, err)
		}
		return s, nil
	}
	parts := strings.Split(strings.ReplaceAll(text, "×", "x"), "x")
	s, required := f.defaults(), f.required()
	if len(parts) != 1 && len(parts) != required {
		return s, fmt.Errorf("size %q: want one number, or %s as in %s", text, f.Form(), f.example())
	}
	for i, part := range parts {
		n, err := ParseSize(part)
		if err != nil {
			return s, fmt.Errorf("size %q: %w", text, err)
		}
		s[i] = n
	}
	if len(parts) == 1 {
		s = f.Equal(s[0])
	}
	return s, nil
}

// Form is the names of the sizes that have no default as they are joined: m×k×n.
func (f *Family) Form() string { return strings.Join(sizeNames(f.Sizes[:f.required()]), "×") }

func sizeNames(sizes []Size) []string {
	return each.Of(sizes, func(s Size) string { return s.Name })
}

func (f *Family) example() string {
	return joined(each.Upto(f.required(), func(i int) int { return 512 << i }))
}

// ParseShape reads sizes as rows of results spell them: m=512,k=512,n=512. Those with a
// default may be left out.
func (f *Family) ParseShape(text string) (Sizes, error) {
	s, err := f.named(strings.Split(text, ","))
	if err != nil {
		return s, fmt.Errorf("shape %q: %w", text, err)
	}
	return s, nil
}

func (f *Family) named(parts []string) (Sizes, error) {
	s := f.defaults()
	var given [MostSizes]bool
	for _, part := range parts {
		name, number, ok := strings.Cut(part, "=")
		i, known := f.Index(name)
		switch {
		case !ok || !known:
			return s, fmt.Errorf("%q: want name=number of %s", part, strings.Join(sizeNames(f.Sizes), ", "))
		case given[i]:
			return s, fmt.Errorf("%s is given twice", name)
		}
		n, err := ParseSize(number)
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		s[i], given[i] = n, true
	}
	for i, size := range f.Sizes {
		if s[i] == 0 {
			return s, fmt.Errorf("%s is missing", size.Name)
		}
	}
	return s, nil
}

// Shape spells sizes as rows of results have them; those that are their default are left out.
func (f *Family) Shape(s Sizes) string { return strings.Join(f.spelled(s, 0, ""), ",") }

// spelled are sizes from a place on as name=number, but for those that are their default and one
// of a name.
func (f *Family) spelled(s Sizes, from int, but string) (parts []string) {
	for i, size := range f.Sizes {
		if i >= from && s[i] != size.Default && size.Name != but {
			parts = append(parts, fmt.Sprintf("%s=%d", size.Name, s[i]))
		}
	}
	return parts
}

// Short is s in one number if all sizes without a default are equal, else these joined by
// x, with what is not a default behind colons: 512, 512x1024x2048, 512:batch=8.
// ParseSizes reads all but the last.
func (f *Family) Short(s Sizes) string {
	n := f.required()
	return strings.Join(append([]string{short(s[:n]...)}, f.spelled(s, n, "")...), ":")
}

// Joined are the sizes without a default joined by x: 512x512x512.
func (f *Family) Joined(s Sizes) string { return joined(f.Required(s)) }

// Batch is the size that counts equal problems at once; 1 where the family has none.
func (f *Family) Batch(s Sizes) int {
	if i, ok := f.Index(BatchSize); ok {
		return s[i]
	}
	return 1
}

// Rest are the sizes that are not their default, without a batch, as name=number joined
// by colons; "" if there are none.
func (f *Family) Rest(s Sizes) string {
	return strings.Join(f.spelled(s, f.required(), BatchSize), ":")
}

// Required are the sizes without a default.
func (f *Family) Required(s Sizes) []int { return s[:f.required()] }

// ParseSize reads one size.
func ParseSize(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("overflows 64 bits")
	case err != nil:
		return 0, errors.New("not a whole number")
	case n < 1:
		return 0, errors.New("must be at least 1")
	}
	return n, nil
}

// ParseDtypes reads a dtype of a, and one of the output behind a colon: what families
// without words of their own take.
func ParseDtypes(text string) (Asked, error) {
	a, out, two := strings.Cut(text, ":")
	var asked Asked
	var err error
	if asked.A, err = tile.ParseDtype(a); err == nil && two {
		if asked.Out, err = tile.ParseDtype(out); err != nil {
			err = fmt.Errorf("dtype %q: %w", text, err)
		}
	}
	return asked, err
}

// ParseBlocks reads a block shape of the family's problems: as many sides as they have, and
// of a family with Pieces one number more, if one likes.
func (f *Family) ParseBlocks(text string) (tile.Blocks, error) {
	b, err := tile.ParseBlocks(text)
	names := f.sideNames()
	if have := strings.Count(strings.ReplaceAll(text, "×", "x"), "x") + 1; err != nil || have != len(names) && !(f.Pieces && have == len(names)+1) {
		return b, fmt.Errorf("blocks %q: want %s, as in %s", text, strings.Join(names, "×"), joined([]int{512, 1024, 1024}[:len(names)]))
	}
	return b, nil
}

// sideNames are those of the sides of the family's problems.
func (f *Family) sideNames() []string {
	return each.Of(f.Make(f.Sample, Asked{}).Sides(), func(s Side) string { return s.Name })
}

// BlockForm is the names of the sides of block shapes as they are joined: bm×bk×bn.
func (f *Family) BlockForm() string { return strings.Join(f.sideNames(), "×") }

// Clip is b cut to the arrays of p: a block never needs to be longer than its array.
func Clip(p Problem, b tile.Blocks) tile.Blocks { return ClipAll(p, b)[0] }

// ClipAll clips each of list to p and merges those that become equal.
func ClipAll(p Problem, list ...tile.Blocks) []tile.Blocks {
	var most [3]int
	for i, s := range p.Sides() {
		most[i] = s.Size
		if p.Family().Pieces && i+1 < len(most) {
			most[i+1] = s.Size
		}
	}
	return tile.Candidates(most[0], most[1], most[2], list...)
}
