package compare

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/stats"
	"matladder/stats/twosample"
)

// usualSweep is what both sides measure if nothing is asked for.
var usualSweep = []string{"--kernel", "1,2,3,4,5", "--sizes", "512", "--dtype", "float32"}

// mostFailures is how many turns of a side may fail before there are no more.
const mostFailures = 3

// An abTest has two command lines take turns, and compares them.
type abTest struct {
	*options
	sides  [2]*program
	folder string // where the results file of each turn goes
	stderr io.Writer

	files    [2][]string    // by side, of pairs in which both turns ended well
	turns    map[string]int // the number of a file's pair, from 0
	target   string         // the point that is to be told; "" for all
	tried    int            // pairs
	failures [2][]error
	begin    time.Time

	compared         int                // pairs at the last look
	rows             [2][]stats.Summary // of these
	list             []stats.Comparison
	onlyOld, onlyNew []*stats.Summary
}

// runAB has the sides take turns and compares them.
func (o *options) runAB(ctx context.Context, stdout, stderr io.Writer, warn func(error)) error {
	t, err := o.newAB(stderr, warn)
	if err != nil {
		return err
	}
	defer t.clear()
	stopped := t.measure(ctx, warn)
	if len(t.files[0]) == 0 {
		return stopped
	}
	if err := t.conclude(stdout, warn); stopped == nil {
		stopped = err
	}
	if errors.Is(stopped, context.Canceled) {
		warn(fmt.Errorf("interrupted after %s", words.Count(len(t.files[0]), "pair")))
	}
	return stopped
}

// newAB makes a comparison that has not begun; clear removes its files.
func (o *options) newAB(stderr io.Writer, warn func(error)) (t *abTest, err error) {
	t = &abTest{options: o, stderr: stderr, turns: map[string]int{}}
	for i, words := range []string{o.old[0], o.new[0]} {
		if t.sides[i], err = parseProgram(sideNames[i], words, o.sweep); err != nil {
			return nil, err
		}
		if o.bisect == "" {
			t.sides[i].hint = "; what one side alone knows belongs to its own words: --ab OLD 'NEW --flag'"
		}
	}
	if t.sides[0].same(t.sides[1]) {
		warn(errors.New("OLD and NEW are one program with one setting: what differs is the machine"))
	}
	return t, t.makeFolder()
}

func (t *abTest) clear() {
	if t.keep == "" {
		os.RemoveAll(t.folder)
	}
}

// makeFolder makes the folder of results files. One that is kept must be new or empty:
// files of two comparisons could not be told apart.
func (t *abTest) makeFolder() (err error) {
	if t.keep == "" {
		t.folder, err = os.MkdirTemp("", "compare-ab")
		return err
	}
	t.folder = t.keep
	var list []os.DirEntry
	if err = os.MkdirAll(t.folder, 0o755); err == nil {
		list, err = os.ReadDir(t.folder)
	}
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("%s is not empty", t.folder)
	}
	if err != nil {
		return cli.Usagef("--keep: %w", err)
	}
	return nil
}

// tryOut runs each side for as short a time as it can, which finds mistakes, and adds the
// longer of the two to the budget of turns: --turn is time to measure in, and on a busy
// machine programs take long to start.
func (t *abTest) tryOut(ctx context.Context) error {
	path := filepath.Join(t.folder, "trial.csv")
	var longest time.Duration
	for side := range t.sides {
		t.progress("trial of " + sideNames[side])
		begin := time.Now()
		err := t.turn(ctx, side, path, time.Nanosecond)
		longest = max(longest, time.Since(begin))
		os.Remove(path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := t.giveUp(err); err != nil {
				return err
			}
		}
	}
	t.turnBudget += longest
	t.begin = time.Now()
	return nil
}

// measure tries the sides out, and has them take turns until every point has a verdict, or there are as many
// pairs as there may be. Turns that end early are compared as at the next look.
func (t *abTest) measure(ctx context.Context, warn func(error)) (stopped error) {
	if err := t.tryOut(ctx); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(t.seed, 0xab))
	for _, look := range twosample.Looks(t.pairs, t.mostPairs) {
		stopped = t.takeTurns(ctx, rng, look.Pairs)
		t.progress("")
		if len(t.files[0]) == 0 {
			return stopped
		}
		if err := t.look(context.WithoutCancel(ctx), look.Share, warn); stopped == nil {
			stopped = err
		}
		if stopped != nil || t.untold() == 0 {
			return stopped
		}
	}
	return nil
}

// untold is how many points have no verdict yet that more turns could bring.
func (t *abTest) untold() int {
	return len(each.That(t.list, func(c stats.Comparison) bool {
		return c.Verdict == stats.Unsure && (t.target == "" || name(c.New) == t.target)
	}))
}

// takeTurns runs pairs of turns until there are as many as wanted. Which side is first is
// drawn at random.
func (t *abTest) takeTurns(ctx context.Context, rng *rand.Rand, wanted int) error {
	for len(t.files[0]) < wanted {
		t.tried++
		first := rng.IntN(2)
		var paths [2]string
		var failed error
		for k := range 2 {
			side := first ^ k
			t.progress(t.state(wanted))
			paths[side] = filepath.Join(t.folder, fmt.Sprintf("%s-%03d.csv", strings.ToLower(sideNames[side]), t.tried))
			if failed = t.turn(ctx, side, paths[side], t.turnBudget); failed != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case failed != nil:
			if err := t.giveUp(failed); err != nil {
				return err
			}
			continue
		}
		for side, path := range paths {
			t.turns[path] = len(t.files[side])
			t.files[side] = append(t.files[side], path)
		}
	}
	return nil
}

// turn runs a side once and counts its failure.
func (t *abTest) turn(ctx context.Context, side int, path string, budget time.Duration) error {
	err := t.sides[side].measure(ctx, path, budget)
	if err != nil && ctx.Err() == nil {
		t.failures[side] = append(t.failures[side], err)
	}
	return err
}

// giveUp returns last, or an error with it, if that ends the turns: a mistake in the
// command line, or one failure too many. Otherwise nil.
func (t *abTest) giveUp(last error) error {
	if errors.As(last, new(*cli.UsageError)) {
		return last
	}
	for _, list := range t.failures {
		if len(list) >= mostFailures {
			return fmt.Errorf("%d turns of one side failed, the last: %w", len(list), last)
		}
	}
	return nil
}

// state is how far the turns are, for people.
func (t *abTest) state(wanted int) string {
	done := len(t.files[0])
	text := fmt.Sprintf("pair %d of %d", done+1, wanted)
	if n := t.untold(); n > 0 {
		text += fmt.Sprintf(", for %d of %s that %s did not tell", n, words.Count(len(t.list), "point"), words.Count(t.compared, "pair"))
	}
	if done > 0 {
		left := time.Since(t.begin) / time.Duration(done) * time.Duration(wanted-done)
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}

// progress shows a line on a terminal in place of the last.
func (t *abTest) progress(line string) {
	if cli.Terminal(t.stderr) {
		fmt.Fprint(t.stderr, "\r\x1b[K"+cli.Line(t.stderr, line, 0))
	}
}

// look compares the pairs so far. share is that of the look.
func (t *abTest) look(ctx context.Context, share float64, warn func(error)) error {
	for i := range t.rows {
		some, err := t.read(ctx, t.files[i][t.compared:], warn)
		if err != nil {
			return err
		}
		t.rows[i] = append(t.rows[i], some...)
	}
	t.compared = len(t.files[0])
	turns := stats.Turns{Pair: t.turns, Seed: t.seed, Share: share}
	t.list, t.onlyOld, t.onlyNew = stats.PairTurns(t.rows[0], t.rows[1], turns, t.band, t.best)
	return nil
}

// conclude writes what the last look found.
func (t *abTest) conclude(stdout io.Writer, warn func(error)) error {
	if t.sides[0].hash == t.sides[1].hash { // settings are compared, not builds
		for i := range t.list {
			t.list[i].Builds = [2][]string{}
		}
	}
	for _, d := range differences(t.list) {
		warn(errors.New("not alike: " + d))
	}
	err := t.write(stdout, warn, t.list, t.onlyOld, t.onlyNew)
	if n := t.untold(); n > 0 && t.compared == t.mostPairs {
		warn(fmt.Errorf("%d of %s are UNSURE after %s, the most: a quieter machine tells more, or --most-pairs and a longer --turn", n, words.Count(len(t.list), "point"), words.Count(t.compared, "pair")))
	}
	for i, failed := range t.failures {
		if n := len(failed); n > 0 && err == nil {
			err = fmt.Errorf("%s of %s failed, the last: %w", words.Count(n, "turn"), sideNames[i], failed[n-1])
		}
	}
	return err
}

var sideNames = [2]string{"OLD", "NEW"}

// A program is one side: a bench with its flags and environment.
type program struct {
	name, hint  string // OLD, NEW or a commit; what is added to a mistake in its flags
	path        string
	args        []string
	environment []string
	hash        [sha256.Size]byte
}

// parseProgram reads a side: the path of a program, or words with spaces between them, as
// for a shell but without quotes: NAME=VALUE settings of the environment, the path, flags of
// this side alone. These come behind those of sweep, so that they count where both name one.
func parseProgram(name, words string, sweep []string) (*program, error) {
	p := &program{name: name, path: words}
	if !exists(words) {
		list := strings.Fields(words)
		for len(list) > 0 && isSetting(list[0]) {
			p.environment, list = append(p.environment, list[0]), list[1:]
		}
		if len(list) == 0 {
			return nil, cli.Usagef("%s: %q names no program", name, words)
		}
		p.path, p.args = list[0], list[1:]
	}
	info, err := os.Stat(p.path)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; build a program there: go build -o bench-old ./cmd/bench", p.path)
	}
	if err == nil {
		p.path, err = filepath.Abs(p.path)
	}
	if err == nil {
		err = p.identify()
	}
	if err != nil {
		return nil, cli.Usagef("%s: %w", name, err)
	}
	p.args = slices.Concat(sweep, p.args)
	return p, p.check()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isSetting reports whether a word is NAME=VALUE, and not the path of a program that has
// such a name.
func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && variable.MatchString(name) && !exists(word)
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses flags that make no sense in turns.
func (p *program) check() error {
	for i, arg := range p.args {
		flag, value, given := strings.Cut(arg, "=")
		if !given && i+1 < len(p.args) {
			value = p.args[i+1]
		}
		switch flag {
		case "--out", "--resume", "--list", "--dry-run", "--machine", "--probe", "--fault":
			return cli.Usagef("%s: %s makes no sense in turns", p.name, flag)
		case "--time-budget":
			return cli.Usagef("%s: --time-budget is that of a turn here: --turn says it", p.name)
		case "--predict", "--topology":
			return p.predicts(flag)
		case "--backend":
			if value == "aot" {
				return p.predicts(flag + " " + value)
			}
		}
	}
	return nil
}

func (p *program) predicts(flag string) error {
	return cli.Usagef("%s: %s predicts, and a prediction comes out the same in each turn: compare the files of two", p.name, flag)
}

// identify hashes the program's file, which must not be a results file.
func (p *program) identify() error {
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	if bytes.HasPrefix(bytes.TrimPrefix(head[:n], []byte(`"`)), []byte("schema")) {
		return fmt.Errorf("%s is a results file; --ab runs programs", p.path)
	}
	h := sha256.New()
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	p.hash = [sha256.Size]byte(h.Sum(nil))
	return nil
}

// same reports whether two sides are one program with the same flags and environment.
func (p *program) same(o *program) bool {
	return p.hash == o.hash && slices.Equal(p.args, o.args) && slices.Equal(p.environment, o.environment)
}
