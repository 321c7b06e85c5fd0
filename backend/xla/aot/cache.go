package aot

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/internal/files"
)

// CacheVariable is the environment variable that overrides where outcomes are kept.
const CacheVariable = "MATLADDER_AOT_CACHE"

// cacheVersion changes when schedules are read or added up in another way. What
// the step model makes of them is not kept.
const cacheVersion = 5

// outcome is what a compiler made of a program, as kept on disk: what is the same
// whenever it is asked. A crash, a time limit and a dump that cannot be read are not.
type outcome struct {
	Status string // one of the constants below
	Reason string `json:",omitempty"` // libtpu's own
	Code   int    `json:",omitempty"` // of a refused program
	What   string `json:",omitempty"` // which memory is too small
	Need   int64  `json:",omitempty"`
	Limit  int64  `json:",omitempty"`
	Parts  []part `json:",omitempty"` // of a program that compiles

	Residents []hlo.Resident `json:"Near,omitempty"` // inputs of one that compiles which come nearer to the core

	// Windows are those of XLA's own products in one that compiles; nil in what was kept before
	// they were read.
	Windows []hlo.Windows

	Calls []call   `json:",omitempty"` // of a program of somebody else's that compiles
	In    []string `json:",omitempty"` // what that takes and returns, as in MLIR
	Out   []string `json:",omitempty"`

	Spread  *spread     `json:",omitempty"` // of a program for a pod that compiles
	Kernels []GPUKernel `json:",omitempty"` // of a program that compiles for a GPU
}

const (
	compiles    = "compiles"
	tooLarge    = "too_big"
	unsupported = "unsupported"
	refused     = "refused"
)

// outcomeOf returns what to keep of an error; false for nothing.
func outcomeOf(err error) (outcome, bool) {
	var big *libtpu.TooBigError
	var lacks *libtpu.UnsupportedError
	var wrong *CompileError
	switch {
	case errors.As(err, &big):
		return outcome{Status: tooLarge, Reason: big.Reason, What: big.What, Need: big.Needed, Limit: big.Limit}, true
	case errors.As(err, &lacks):
		return outcome{Status: unsupported, Reason: lacks.Reason}, true
	case errors.As(err, &wrong):
		return outcome{Status: refused, Reason: wrong.Reason, Code: wrong.Code}, true
	}
	return outcome{}, false
}

// err is the compiler's error that the outcome was made of, nil for a program that compiles.
func (m maker) err(o outcome) error {
	switch o.Status {
	case compiles:
		return nil
	case tooLarge:
		return &libtpu.TooBigError{TooBigError: backend.TooBigError{What: o.What, Needed: o.Need, Limit: o.Limit}, Compiler: m.name, Reason: o.Reason}
	case unsupported:
		return &libtpu.UnsupportedError{Compiler: m.name, Reason: o.Reason}
	}
	return m.classify(o.Code, o.Reason) // which may know more than when it was kept
}

// cache is a folder with one file for each outcome, named by what the outcome
// depends on. Processes share it: a file is there whole or not at all.
type cache struct {
	folder string // "" for none
	about  string // what all programs have in common: compiler and flags
}

// openCache opens the folder, or says why nothing can be kept there.
func openCache(folder, about string) (cache, error) {
	folder = cmp.Or(folder, os.Getenv(CacheVariable))
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return cache{}, fmt.Errorf("nothing is kept of what compiles: %w: set %s", err, CacheVariable)
		}
		folder = filepath.Join(user, "matladder", "aot")
	}
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = files.Writable(filepath.Join(folder, "outcome"))
	}
	if err != nil {
		return cache{}, fmt.Errorf("nothing is kept of what compiles: %w", err)
	}
	return cache{folder, about}, nil
}

// file is where the outcome of a program for a topology, under options, is kept.
func (c cache) file(topology, program string, options hlo.Options) string {
	h := sha256.New()
	parts := []string{fmt.Sprint(cacheVersion), c.about, topology, program}
	if len(options) > 0 {
		parts = append(parts, fmt.Sprint(options)) // in the order of their names
	}
	for _, s := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(s), s)
	}
	name := hex.EncodeToString(h.Sum(nil))
	return filepath.Join(c.folder, name[:2], name[2:]+".json")
}

// read returns a kept outcome. One that cannot be read is as none.
func (c cache) read(file string) (outcome, bool) {
	var o outcome
	if c.folder == "" {
		return o, false
	}
	text, err := files.ReadRegular(file, 64<<20)
	return o, err == nil && json.Unmarshal(text, &o) == nil && o.Status != ""
}

// outcome is a kept one that serves, or what compile makes, which is then kept; of errors, those of
// the compiler that are the same whenever it is asked.
func (c cache) outcome(file string, m maker, serves func(outcome) bool, compile func() (outcome, error)) (outcome, error) {
	if o, ok := c.read(file); ok && (o.Status != compiles || serves(o)) {
		return o, m.err(o)
	}
	o, err := compile()
	if err == nil {
		o.Status = compiles
		c.write(file, o)
	} else if failed, ok := outcomeOf(err); ok {
		c.write(file, failed)
	}
	return o, err
}

// write keeps an outcome, whole or not at all: what is not kept is compiled again.
func (c cache) write(file string, o outcome) {
	if c.folder == "" || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	if text, err := json.Marshal(o); err == nil {
		files.Replace(file, text)
	}
}
