package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/xla/aot"
	"matladder/backend/xla/aot/schedule"
	"matladder/lower/mosaic"
	"matladder/model"
	"matladder/tile"
)

// dumpFlags has libtpu leave its schedules in a folder: of each kernel the text of
// the last passes alone, which is a twentieth of all and takes a third of the time.
func dumpFlags(folder string) string {
	return "--xla_jf_dump_llo_pass_label_regex=final --xla_jf_dump_to=" + folder
}

// Comparer compiles both sides with one libtpu.
type Comparer struct {
	ours        *aot.Compiler
	oursDump    string
	pallas      Reference // leaves schedules in its Dump
	pallasPlain Reference // leaves none: that of a kernel that does not fit may be gigabytes
	tokamax     Reference // likewise, for kernels of tokamax
	folder      string
}

// NewComparer returns a Comparer for the libtpu at a path. limit is for one
// compilation. Close it.
func NewComparer(python, libtpu string, limit time.Duration) (*Comparer, error) {
	folder, err := os.MkdirTemp("", "pallasref")
	if err != nil {
		return nil, err
	}
	c := &Comparer{
		oursDump:    filepath.Join(folder, "ours"),
		pallas:      Reference{Python: python, Libtpu: libtpu, Folder: folder, Dump: filepath.Join(folder, "pallas"), Limit: limit},
		pallasPlain: Reference{Python: python, Libtpu: libtpu, Folder: folder, Limit: limit},
		tokamax:     Reference{Python: python, Libtpu: libtpu, Folder: folder, Dump: filepath.Join(folder, "tokamax"), Limit: limit},
		folder:      folder,
	}
	err = errors.Join(os.Mkdir(c.oursDump, 0o755), os.Mkdir(c.pallas.Dump, 0o755), os.Mkdir(c.tokamax.Dump, 0o755))
	if err == nil {
		c.ours, err = aot.Open(aot.Options{Library: libtpu, Flags: dumpFlags(c.oursDump), Parallel: 1, Limit: limit})
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return c, nil
}

// Close ends all processes and removes the schedules.
func (c *Comparer) Close() error {
	c.pallas.Close()
	c.pallasPlain.Close()
	c.tokamax.Close()
	return errors.Join(c.ours.Close(), os.RemoveAll(c.folder))
}

// Again compiles our side of a row anew. What Pallas became stands.
func (c *Comparer) Again(ctx context.Context, old Row) (row Row, err error) {
	row = old
	row.Ours, err = c.compileOurs(ctx, old.Point)
	return row, err
}

// Compare compiles a point on both sides. An error says that it could not be asked.
func (c *Comparer) Compare(ctx context.Context, p Point) (row Row, err error) {
	row.Point = p
	if row.Ours, err = c.compileOurs(ctx, p); err != nil {
		return row, err
	}
	program, err := p.program()
	if err != nil {
		return row, err
	}
	over, err := hopeless(program, p.Topology)
	if err != nil {
		return row, err
	}
	if over && row.Ours.Outcome == TooBig {
		row.Pallas = Result{Outcome: NotRun}
		return row, nil
	}
	with := &c.pallasPlain
	if row.Ours.Outcome == Fits {
		with = &c.pallas
	}
	err = with.Compile(ctx, p)
	var setup *setupError
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case errors.As(err, &setup):
		return row, err
	}
	if row.Pallas = resultOf(err); err == nil && with.Dump != "" {
		row.Pallas.Cycles, row.Pallas.Reason = cycles(with.Dump, program, nil)
	}
	empty(c.pallas.Dump)
	return row, nil
}

func (c *Comparer) compileOurs(ctx context.Context, p Point) (Result, error) {
	program, err := p.program()
	if err != nil {
		return Result{}, err
	}
	_, err = c.ours.CompileKernels(ctx, p.Topology, []*tile.Program{program}, backend.Params{})
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	defer empty(c.oursDump)
	r := resultOf(err)
	if err == nil {
		r.Cycles, r.Reason = cycles(c.oursDump, program, mosaic.Conditional)
	}
	return r, nil
}

// cycles reads from a dump what one grid step takes in the long run: where no
// core runs more than one, all of it. If it cannot tell it says why. regions says in
// which parts of all steps regions of their own run; nil for each condition.
func cycles(folder string, program *tile.Program, regions func([]*tile.Stmt, []float64) []float64) (float64, string) {
	dump := os.DirFS(folder)
	names, err := schedule.Kernels(dump)
	if err != nil {
		return 0, shorten(err.Error())
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, program.Name) })
	if len(names) != 1 {
		return 0, fmt.Sprintf("%d schedules of the kernel", len(names))
	}
	s, err := schedule.Read(dump, names[0])
	if err != nil {
		return 0, shorten(err.Error())
	}
	if _, loop := s.Grid(); !loop {
		return float64(s.Bundles), ""
	}
	work, err := model.WorkOf(program)
	if err != nil {
		return 0, shorten(err.Error())
	}
	if regions != nil {
		work.Shares = regions(program.Body, work.Shares)
	}
	n, err := s.Steady(work.Shares...)
	if err != nil {
		return 0, shorten(err.Error())
	}
	return n, ""
}

// empty removes what is in a folder.
func empty(folder string) {
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		os.RemoveAll(filepath.Join(folder, f.Name()))
	}
}
