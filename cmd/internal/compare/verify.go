package compare

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/seeded"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/problem"
	"matladder/results"
	"matladder/results/bundle"
	"matladder/stats"
	"matladder/tile"
)

// replayed bounds the FLOPs and bytes of a point whose output is computed again.
const replayed = 1 << 28

// A verification is what a bundle turned out to be.
type verification struct {
	content map[string][]byte
	points  []stats.Summary
	cpu     backend.Backend
	wrong   []string            // what does not follow from what it holds
	not     map[string][]string // points that cannot be held against anything here, by why
}

// runVerify says of a bundle what can be verified here, and what cannot.
func runVerify(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return cli.Usagef("verify wants one bundle, as bench --bundle writes it: compare verify run.zip")
	}
	_, err := os.Stat(args[0])
	if err != nil {
		return cli.Input("", err)
	}
	v := verification{not: map[string][]string{}}
	if v.cpu, err = cpu.Open(cpu.Options{NoProbe: true}); err != nil {
		return err
	}
	defer v.cpu.Close()
	if v.content, err = bundle.Read(args[0]); err != nil {
		return err
	}
	for _, name := range []string{bundle.Rows, bundle.Sweep, bundle.Figures, bundle.Environment} {
		if _, ok := v.content[name]; !ok {
			return fmt.Errorf("%s: %s is missing", args[0], name)
		}
	}
	rows, err := results.Read(bytes.NewReader(v.content[bundle.Rows]), bundle.Rows)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	v.wrong = each.Of(rows.Warnings(), error.Error)
	v.points = stats.Summarize(rows.Rows)
	unknown := v.figures()
	fmt.Fprintf(stdout, "files       %s, each with its hash\nfigures     of %s, made of %s again\n",
		words.Count(len(v.content), "file"), words.Count(len(v.points), "point"), words.Count(len(rows.Rows), "row"))
	if len(unknown) > 0 {
		fmt.Fprintf(stdout, "            not compared, as one of both has them alone: %s\n", strings.Join(unknown, ", "))
	}
	same, programs, outputs := 0, 0, 0
	for i := range v.points {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, made, err := harness.Rebuild(&v.points[i].Record)
		list, as := v.programs(i, made, err)
		if programs += min(1, len(list)); as {
			same++
		}
		if why := v.replay(ctx, &v.points[i], p, err, list); why == "" {
			outputs++
		} else {
			v.not[why] = append(v.not[why], name(&v.points[i]))
		}
	}
	fmt.Fprintf(stdout, "programs    of %s; %d are those that this version makes\noutputs     of %s, computed again on this machine and verified\n",
		words.Count(programs, "point"), same, words.Count(outputs, "point"))
	for _, why := range slices.Sorted(maps.Keys(v.not)) {
		fmt.Fprintf(stdout, "not here    %s: %s\n", why, words.First(v.not[why], 3, "; "))
	}
	fmt.Fprintln(stdout, "times       nobody can compute again: they are as far to be trusted as who made the bundle")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(v.wrong) > 0 {
		return fmt.Errorf("%s: %s", args[0], words.First(v.wrong, 3, "; "))
	}
	return nil
}

// figures compares the table of the bundle with one of its rows, by the columns that both have, as
// other versions write others. It returns those.
func (v *verification) figures() (unknown []string) {
	var text bytes.Buffer
	if err := stats.WriteTable(&text, "csv", v.points); err != nil {
		v.wrong = append(v.wrong, err.Error())
	}
	want, _ := csv.NewReader(&text).ReadAll()
	have, err := csv.NewReader(bytes.NewReader(v.content[bundle.Figures])).ReadAll()
	if err != nil || len(have) != len(want) || len(v.points) == 0 {
		v.wrong = append(v.wrong, fmt.Sprintf("%s has not the %s of its rows", bundle.Figures, words.Count(len(v.points), "point")))
		return nil
	}
	for c, column := range have[0] {
		at := slices.Index(want[0], column)
		if at < 0 {
			unknown = append(unknown, column)
			continue
		}
		for line := 1; line < len(have); line++ {
			if have[line][c] != want[line][at] {
				v.wrong = append(v.wrong, fmt.Sprintf("%s:%d: %s is %.40q, and %.40q by the rows", bundle.Figures, line+1, column, have[line][c], want[line][at]))
			}
		}
	}
	unknown = append(unknown, each.That(want[0], func(column string) bool { return !slices.Contains(have[0], column) })...)
	if len(unknown) == len(have[0])+len(want[0]) {
		v.wrong = append(v.wrong, bundle.Figures+" has no column of a table of figures")
	}
	return unknown
}

// programs are those of a point in the bundle, and whether they are those that this version made
// of its row, unless that failed by err.
func (v *verification) programs(point int, made []*tile.Program, err error) (list []*tile.Program, same bool) {
	name := fmt.Sprint(bundle.Programs, point+1)
	code, ok := v.content[name+".json"]
	if !ok {
		if err == nil {
			v.wrong = append(v.wrong, name+".json is missing")
		}
		return nil, false
	}
	list, bad := tile.ReadPrograms(bytes.NewReader(code))
	if bad != nil {
		v.wrong = append(v.wrong, fmt.Sprintf("%s.json: %v", name, bad))
		return nil, false
	}
	text := tile.Text(list)
	if text != string(v.content[name+".txt"]) {
		const why = "another version printed its program otherwise"
		v.not[why] = append(v.not[why], name+".txt")
	}
	return list, err == nil && tile.Text(made) == text
}

// replay computes the output of a point by its programs again, on inputs of its seed. It returns
// why it cannot. p is the problem of its row, unless that could not be made by err.
func (v *verification) replay(ctx context.Context, s *stats.Summary, p problem.Problem, err error, programs []*tile.Program) string {
	switch {
	case s.Status != results.OK:
		return "the point is " + string(s.Status)
	case s.Mode == results.Predicted:
		return "a prediction: its compiler is not asked here"
	case s.Backend != v.cpu.Name():
		return "the device of backend " + s.Backend + " is not asked here"
	case len(programs) == 0:
		return "the bundle has no program of it: a vendor's, a library's, or a function of others"
	case !s.Seed.Known || s.Dist == "":
		return "the row has no seed or inputs"
	}
	if err == nil && !(p.FLOPs() <= replayed && p.Bytes() <= replayed && small(programs)) {
		return fmt.Sprintf("more than %d MFLOP or MB", replayed>>20)
	}
	if err == nil {
		err = v.compute(ctx, programs, backend.InputSpec{Problem: p, Seed: uint64(s.Seed.Value), Dist: s.Dist})
	}
	if wrong, ok := err.(*wrongOutput); ok {
		v.wrong = append(v.wrong, name(s)+": "+wrong.Error())
		return "its output is wrong"
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// small reports whether programs of others can be run here: by their arrays, and the blocks of all
// steps.
func small(programs []*tile.Program) bool {
	times := func(n float64, sizes []int) float64 { // as no integer may hold it
		for _, size := range sizes {
			n *= float64(size)
		}
		return n
	}
	for _, p := range programs {
		steps := 1.0
		for _, a := range p.Grid {
			steps *= float64(a.Size)
		}
		tooLarge := func(r *tile.Ref) bool { return times(1, r.Array) > replayed/8 || times(steps, r.Block) > replayed }
		if steps > replayed/8 || slices.ContainsFunc(p.Refs, tooLarge) {
			return false
		}
	}
	return true
}

type wrongOutput struct{ detail string }

func (e *wrongOutput) Error() string { return "the output of its program is wrong here: " + e.detail }

// compute runs programs on the CPU once and verifies what they write.
func (v *verification) compute(ctx context.Context, programs []*tile.Program, spec backend.InputSpec) error {
	compiled, err := backend.Compile(ctx, v.cpu, programs, backend.Params{})
	if err != nil {
		return err
	}
	e := seeded.Of(compiled, programs, seeded.Keep(1, false))
	defer e.Close()
	var r backend.CheckResult
	if err = e.LoadSeeded(ctx, spec); err == nil {
		if _, err = e.Run(ctx, 1); err == nil {
			r, err = e.Check(ctx, backend.CheckSpec{InputSpec: spec})
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // a program of another problem
		return &wrongOutput{err.Error()}
	case !r.OK:
		return &wrongOutput{r.Detail}
	}
	return nil
}
