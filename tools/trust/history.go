package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/cli"
)

const (
	madeCommits = 40
	madeRuns    = 5 // of each commit, one after another
)

// planted are the slowdowns of a made repository, in percent.
var planted = []int{2, 5, 10}

// madeProgram writes rows of three points, of which a commit can change the work of the first.
// Times are simulated, of a machine whose runs differ by 0.5 %, or with --real measured:
// of arithmetic, by the time that processors gave the process, with a control.
const madeProgram = `package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"time"
)

func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + 1e-6*float64(u.Utime.Usec+u.Stime.Usec)
}

var sink float64

func launch(steps int) float64 {
	begin := used()
	a, b, c, d := 1.0, 1.1, 1.2, 1.3
	for range steps {
		a, b, c, d = a*0.999999+1e-6, b*0.999999+1e-6, c*0.999999+1e-6, d*0.999999+1e-6
	}
	sink += a + b + c + d
	return used() - begin
}

func main() {
	out, err := os.Create(os.Args[slices.Index(os.Args, "--out")+1])
	if err != nil {
		panic(err)
	}
	real := slices.Contains(os.Args, "--real")
	started := time.Now().UTC()
	fmt.Fprintln(out, "schema,run_id,started_at,matladder_version,host,backend,kernel,mode,method,status,batch,m,k,n,dtype_a,round,rep,launches,seconds,control_compute_ahead,control_compute_behind")
	common := 0.003 * rand.NormFloat64()
	own := [3]float64{common + 0.004*rand.NormFloat64(), common + 0.004*rand.NormFloat64(), common + 0.004*rand.NormFloat64()}
	control := ""
	for round := range 24 {
		var seconds [3]float64
		for point, steps := range []int{500 * work, 500000, 300000} {
			if real {
				seconds[point] = launch(steps)
				control = fmt.Sprintf("%.9f,%.9f", launch(100000), launch(100000))
			} else {
				seconds[point] = 2e-9 * float64(steps) * math.Exp(own[point]+0.015*rand.ExpFloat64())
				control = ","
			}
		}
		for point, s := range seconds {
			fmt.Fprintf(out, "1,%d,%s,%s,here,made,point%d,measured,direct,ok,1,64,64,64,float32,%d,0,1,%.9f,%s\n", started.UnixNano(),
				started.Format(time.RFC3339Nano), revision, point+1, round, s, control)
		}
	}
}
`

// A madeRepository has commits of a program that some of them made slower.
type madeRepository struct {
	folder  string
	commits []string
	slow    map[int]int // by commit: percent
	flags   string      // of the program
}

// histories makes repositories and counts what compare --history and --bisect find in them.
func histories(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags("trust history")
	tries := f.Int("times", 10, "`TRIES`, each with a repository of its own")
	seed := f.Uint64("seed", 1, "`SEED` of where slowdowns are")
	bisects := f.IntSlice("bisect", []int{5, 10, 0}, "slowdowns to find by --bisect, in `PERCENT`; 0 for any of all")
	real := f.Bool("real", false, "measure programs that compute, in place of simulated times")
	if err := cli.Parse(f, args, "usage: trust history [flags]"); err != nil {
		return err
	}
	root, _, _, err := slowedSource(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "trust-history")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	compare := filepath.Join(folder, "compare")
	if _, err := command(ctx, root, "go", "build", "-o", compare, "./cmd/compare"); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "| try | slowdowns | found by --history | invented | --bisect |\n| ---: | --- | ---: | ---: | --- |")
	missed := 0
	for try := range *tries {
		rng := rand.New(rand.NewPCG(*seed, uint64(try)))
		r, err := makeRepository(ctx, filepath.Join(folder, fmt.Sprint(try)), rng)
		if err != nil {
			return err
		}
		if r.flags = "--simulated"; *real {
			r.flags = "--real"
		}
		found, invented, err := r.history(ctx, compare, stderr)
		if err != nil {
			return err
		}
		var bisected []string
		for _, percent := range *bisects {
			said := r.bisect(ctx, compare, percent)
			if err := ctx.Err(); err != nil {
				return err
			}
			if said != "found" {
				missed++
			}
			if bisected = append(bisected, fmt.Sprintf("%d %%: %s", percent, said)); percent == 0 {
				bisected[len(bisected)-1] = "any: " + said
			}
		}
		var where []string
		for i := range r.commits {
			if p := r.slow[i]; p > 0 {
				where = append(where, fmt.Sprintf("%d %% at %d", p, i))
			}
		}
		missed += len(planted) - found + invented
		fmt.Fprintf(stdout, "| %d | %s | %d of %d | %d | %s |\n", try+1, strings.Join(where, ", "), found, len(planted), invented, strings.Join(bisected, ", "))
		os.RemoveAll(r.folder)
	}
	if missed > 0 {
		return fmt.Errorf("%d were missed or invented", missed)
	}
	return nil
}

// makeRepository commits the program again and again, in all but three commits with the same work.
func makeRepository(ctx context.Context, folder string, rng *rand.Rand) (*madeRepository, error) {
	r := &madeRepository{folder: folder, slow: map[int]int{}}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if _, err := command(ctx, folder, "git", "init", "--quiet"); err != nil {
		return nil, err
	}
	for i, p := range rng.Perm(len(planted)) {
		r.slow[8+10*i+rng.IntN(6)] = planted[p]
	}
	work := 1000.0
	for i := range madeCommits {
		work *= 1 + float64(r.slow[i])/100
		for name, text := range map[string]string{
			"go.mod": "module made\n\ngo 1.22\n", "main.go": madeProgram,
			"work.go": fmt.Sprintf("package main\n\nconst (\n\twork     = %.0f\n\trevision = \"commit-%d\"\n)\n", work, i),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				return nil, err
			}
		}
		_, err := command(ctx, folder, "git", "add", ".")
		if err == nil {
			_, err = command(ctx, folder, "git", "-c", "user.name=made", "-c", "user.email=made@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", fmt.Sprintf("change %d", i))
		}
		hash := ""
		if err == nil {
			hash, err = command(ctx, folder, "git", "rev-parse", "HEAD")
		}
		if err != nil {
			return nil, err
		}
		r.commits = append(r.commits, strings.TrimSpace(hash))
	}
	return r, nil
}

// history runs the programs of all commits and counts what compare --history says of them.
func (r *madeRepository) history(ctx context.Context, compare string, stderr io.Writer) (found, invented int, err error) {
	rows := filepath.Join(r.folder, "rows")
	if err := os.MkdirAll(rows, 0o755); err != nil {
		return 0, 0, err
	}
	for i, commit := range r.commits {
		if _, err := command(ctx, r.folder, "git", "checkout", "--quiet", commit); err != nil {
			return 0, 0, err
		}
		if _, err := command(ctx, r.folder, "go", "build", "-o", "program"); err != nil {
			return 0, 0, err
		}
		for run := range madeRuns {
			if _, err := command(ctx, r.folder, "./program", r.flags, "--out", filepath.Join(rows, fmt.Sprintf("%02d-%d.csv", i, run))); err != nil {
				return 0, 0, err
			}
		}
	}
	text, err := command(ctx, r.folder, compare, "--history", rows, "--band", "1%", "--as", "csv")
	if err != nil {
		return 0, 0, err
	}
	table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return 0, 0, err
	}
	for _, row := range table[1:] {
		cell := func(name string) string { return row[slices.Index(table[0], name)] }
		if v := cell("verdict"); v != "SLOWER" && v != "FASTER" {
			continue
		}
		// The first run of the commit is one of those that the change may have come with.
		right := slices.ContainsFunc(r.planted(), func(i int) bool {
			first, _ := os.ReadFile(filepath.Join(rows, fmt.Sprintf("%02d-0.csv", i)))
			_, line, _ := bytes.Cut(first, []byte("\n"))
			started := strings.Split(string(line), ",")[2]
			return cell("first_started") <= started && started <= cell("last_started")
		})
		if right && cell("verdict") == "SLOWER" && cell("kernel") == "point1" {
			found++
		} else {
			invented++
		}
	}
	if found < len(planted) || invented > 0 {
		text, _ := command(ctx, r.folder, compare, "--history", rows, "--band", "1%")
		fmt.Fprint(stderr, text)
	}
	return found, invented, nil
}

func (r *madeRepository) planted() (list []int) {
	for i := range r.commits {
		if r.slow[i] > 0 {
			list = append(list, i)
		}
	}
	return list
}

// bisect has compare --bisect look for a slowdown in the commits around it, or with 0 in all:
// there it may find any.
func (r *madeRepository) bisect(ctx context.Context, compare string, percent int) string {
	good, bad, wanted := 0, len(r.commits)-1, r.planted()
	for at, p := range r.slow {
		if p == percent {
			good, bad, wanted = at-4, min(bad, at+4), []int{at}
		}
	}
	said, err := command(ctx, r.folder, compare, "--bisect", r.commits[good]+".."+r.commits[bad], "--build", `go build -o "$OUT"`, "--turn", "1ms", "--", r.flags)
	if err != nil {
		return err.Error()
	}
	for _, i := range wanted {
		if strings.Contains(said, r.commits[i]+" is the first bad commit") {
			return "found"
		}
	}
	line, _, _ := strings.Cut(said, "\n")
	return "missed: " + line
}

// command runs a program in a folder and returns what it prints.
func command(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(errs.String())))
	}
	return out.String(), nil
}
