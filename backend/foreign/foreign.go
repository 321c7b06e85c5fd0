// Package foreign is what all functions and programs that somebody else wrote have in
// common: a name, and the problems that they compute. A package of each kind below it runs
// them: functions of Go and of shared libraries (library), programs of other languages in
// processes of their own (process).
package foreign

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"matladder/problem"
)

// Function is a function that somebody else wrote, and which problems it computes.
type Function struct {
	Name   string          // of its rows, one word
	Family *problem.Family // whose problems it computes
	Asked  problem.Asked   // all that is asked of them beside sizes; any precision will do
	Any    bool            // Asked is not looked at: it computes whatever has no scales
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Complete returns f with what follows from what it is asked for, or why no function can be
// called so.
func (f Function) Complete() (Function, error) {
	if !word.MatchString(f.Name) {
		return f, fmt.Errorf("%q is no name for a function: letters, digits, _, . and - are", f.Name)
	}
	if f.Asked.Quant != problem.NoQuant {
		return f, fmt.Errorf("%s cannot be asked for %s: a function is handed no scales", f.Name, f.Asked)
	}
	f.Asked = f.Family.Make(f.Family.Sample, f.Asked).Asked()
	return f, nil
}

// Computes returns why the function does not compute p, or nil, where it learns sizes from
// its arrays.
func (f Function) Computes(p problem.Problem) error {
	asked := p.Asked()
	asked.Precision = f.Asked.Precision
	switch {
	case p.Family() != f.Family:
		return fmt.Errorf("%s computes %s", f.Name, f.Family.Title)
	case f.Any && asked.Quant != problem.NoQuant:
		return fmt.Errorf("%s is handed no scales", f.Name)
	case !f.Any && asked != f.Asked:
		return fmt.Errorf("%s computes %s", f.Name, f.Asked)
	}
	return nil
}

// Supports is Computes of a function that takes only the sizes that have no default.
func (f Function) Supports(p problem.Problem) error {
	if err := f.Computes(p); err != nil {
		return err
	}
	for i, size := range f.Family.Sizes {
		if n := p.Sizes()[i]; size.Default != 0 && n != size.Default {
			return fmt.Errorf("%s is not told of %s, which is %d", f.Name, size.Name, n)
		}
	}
	return nil
}

// Variants is the function as it is.
func (f Function) Variants(problem.Problem) []string { return []string{""} }

// Largest is how many bytes a program may have.
const Largest = 64 << 20

// Hash is the beginning of a text's SHA-256, by which rows name what is in a file.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%x", sum[:4])
}

// ReadFile reads a file with a function, and returns its absolute path too.
func ReadFile(path string) (text []byte, absolute string, err error) {
	text, err = os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("no such file: %s", path)
	case err != nil:
		return nil, "", err
	}
	absolute, err = filepath.Abs(path)
	return text, absolute, err
}
