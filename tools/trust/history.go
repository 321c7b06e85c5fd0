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
	"time"

	"matladder/internal/cli"
)

const (
	madeCommits = 40
	madeRuns    = 3 // of each commit, one after another
)

// planted are the slowdowns of a made repository, in percent.
var planted = []int{2, 5, 10}

// madeProgram measures real work with a real clock and writes rows of three points, of which a
// commit can change the work of the first.
const madeProgram = `package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

var sink float64

func launch(steps int) {
	a, b, c, d := 1.0, 1.1, 1.2, 1.3
	for range steps {
		a, b, c, d = a*0.999999+1e-6, b*0.999999+1e-6, c*0.999999+1e-6, d*0.999999+1e-6
	}
	sink += a + b + c + d
}

func main() {
	out, err := os.Create(os.Args[slices.Index(os.Args, "--out")+1])
	if err != nil {
		panic(err)
	}
	started := time.Now().UTC()
	fmt.Fprintln(out, "schema,run_id,started_at,matladder_version,host,backend,kernel,mode,method,status,batch,m,k,n,dtype_a,round,rep,launches,seconds")
	for round := range 25 {
		for point, steps := range []int{500 * work, 500000, 300000} {
			begin := time.Now()
			launch(steps)
			fmt.Fprintf(out, "1,%d,%s,%s,here,made,point%d,measured,direct,ok,1,64,64,64,float32,%d,0,1,%.9f\n", started.UnixNano(),
				started.Format(time.RFC3339Nano), revision, point+1, round, time.Since(begin).Seconds())
		}
	}
}
`

// A madeRepository has commits of a program that some of them made slower.
type madeRepository struct {
	folder  string
	commits []string
	slow    map[int]int // by commit: percent
}

// histories makes repositories and counts what compare --history and --bisect find in them.
func histories(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags("trust history")
	tries := f.Int("times", 10, "`TRIES`, each with a repository of its own")
	seed := f.Uint64("seed", 1, "`SEED` of where slowdowns are")
	turn := f.Duration("turn", time.Millisecond, "the `TIME` of --turn of compare --bisect: the program takes as long as it takes")
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
	fmt.Fprintln(stdout, "| try | slowdowns | found by --history | invented | --bisect of 5 % alone | of 10 % alone | of all |\n| ---: | --- | ---: | ---: | --- | --- | --- |")
	missed := 0
	for try := range *tries {
		rng := rand.New(rand.NewPCG(*seed, uint64(try)))
		r, err := makeRepository(ctx, filepath.Join(folder, fmt.Sprint(try)), rng)
		if err != nil {
			return err
		}
		found, invented, err := r.history(ctx, compare)
		if err != nil {
			return err
		}
		var bisected []string
		for _, percent := range []int{5, 10, 0} {
			said := r.bisect(ctx, compare, percent, *turn)
			if err := ctx.Err(); err != nil {
				return err
			}
			if bisected = append(bisected, said); said != "found" {
				missed++
			}
		}
		var where []string
		for i := range r.commits {
			if p := r.slow[i]; p > 0 {
				where = append(where, fmt.Sprintf("%d %% at %d", p, i))
			}
		}
		missed += len(planted) - found + invented
		fmt.Fprintf(stdout, "| %d | %s | %d of %d | %d | %s |\n", try+1, strings.Join(where, ", "), found, len(planted), invented, strings.Join(bisected, " | "))
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
func (r *madeRepository) history(ctx context.Context, compare string) (found, invented int, err error) {
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
			if _, err := command(ctx, r.folder, "./program", "--out", filepath.Join(rows, fmt.Sprintf("%02d-%d.csv", i, run))); err != nil {
				return 0, 0, err
			}
		}
	}
	text, err := command(ctx, r.folder, compare, "--history", rows, "--as", "csv")
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
func (r *madeRepository) bisect(ctx context.Context, compare string, percent int, turn time.Duration) string {
	good, bad, wanted := 0, len(r.commits)-1, r.planted()
	for at, p := range r.slow {
		if p == percent {
			good, bad, wanted = at-4, min(bad, at+4), []int{at}
		}
	}
	said, err := command(ctx, r.folder, compare, "--bisect", r.commits[good]+".."+r.commits[bad], "--build", `go build -o "$OUT"`, "--turn", turn.String())
	if err != nil {
		return err.Error()
	}
	for _, i := range wanted {
		if strings.HasPrefix(said, "this commit") && strings.Contains(said, "commit "+r.commits[i]) {
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
