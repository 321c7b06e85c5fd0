package ttir

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// Launch is what a kernel is launched with.
type Launch struct {
	Grid   [3]int
	Args   map[string]string // numbers, by name or as arg0, arg1, …
	Warps  int
	Stages int
}

// ReadLaunch reads what a kernel is launched with: the JSON that Triton writes next to its text, with
// "grid" and "args" added. What it does not say is as Triton has it.
func ReadLaunch(text []byte) (Launch, error) {
	l := Launch{Warps: DefaultWarps, Stages: DefaultStages, Args: map[string]string{}}
	var says struct {
		Grid   []int          `json:"grid"`
		Args   map[string]any `json:"args"`
		Warps  int            `json:"num_warps"`
		Stages int            `json:"num_stages"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&says); err != nil {
		return l, err
	}
	for name, v := range says.Args {
		switch v {
		case true:
			v = 1
		case false:
			v = 0
		}
		l.Args[name] = fmt.Sprint(v)
	}
	if len(says.Grid) > 3 {
		return l, fmt.Errorf("a grid of %d dimensions, want 1 to 3", len(says.Grid))
	}
	if len(says.Grid) > 0 {
		l.Grid = [3]int{1, 1, 1}
		copy(l.Grid[:], says.Grid)
	}
	if says.Warps > 64 || says.Warps > 0 && says.Warps&(says.Warps-1) != 0 {
		return l, fmt.Errorf("num_warps is %d, want a power of two up to 64", says.Warps)
	}
	if says.Warps > 0 {
		l.Warps = says.Warps
	}
	if says.Stages > 0 {
		l.Stages = says.Stages
	}
	return l, nil
}

// Triton's own choices of a launch that makes none.
const DefaultWarps, DefaultStages = 4, 3

// Counts are what one launch does.
type Counts struct {
	Programs int64
	Followed int64 // programs that were run: all, or some that lie evenly
	Blocks   int64 // tiles of a persistent kernel, else programs; without those that do nothing
	Steps    int64 // of all blocks
	Longest  int64 // steps of one block, at the most
	Dots     []Dot
	Arrays   []Array // the arguments that are pointers, in order

	StepBytes    int64 // loaded in steps
	OnceBytes    int64 // loaded outside of them
	RevisedBytes int64 // loaded in steps of what the block itself has stored
	OutBytes     int64 // stored; what a block stores again in the same place once
	MaybeBytes   int64 // of those loaded, what data decides about

	Lanes   int64 // elements that steps compute beside products and addresses
	Special int64 // of them exponentials, logarithms, quotients and the like

	Reads [][]Read // by block, in order; nil if not all programs were followed
	Notes []string // what makes the band wide
}

// Dot is a product of the text.
type Dot struct {
	M, N, K   int64 // with what dimensions of batches multiply
	A, B      string
	Precision string // tf32, ieee, …; "" where none is said
	Times     int64  // that it is done in one launch
}

// FLOPs are those of a launch.
func (d Dot) FLOPs() int64 { return 2 * d.M * d.N * d.K * d.Times }

// Array is an argument.
type Array struct {
	Name, Elem   string
	Read, Write  bool
	Bytes        int64 // of it that is touched
	Elements     int64 // from its start to the last one touched
	readBytes    int64
	writtenBytes int64
	low, high    int64
	touched      bool
	lost         bool // data tell where some of it is
}

// Read is what a block reads of an array.
type Read struct {
	Array int   // of the arguments
	At    int64 // its first element
	Bytes int64
}

// move is one transfer.
type move struct {
	op             *op
	base           int
	low, high      int64 // elements
	elements, bits int64
	step           bool // in a step
	maybe, lost    bool // data tell its mask, or where it is
	line           int
}

// counter counts what programs do.
type counter struct {
	counts Counts
	dots   map[*op]int64
	arrays []Array
	noted  map[string]bool
	lost   int64

	// of the block at hand
	steps    int64
	straight int64 // steps of a program outside of its loops
	begun    bool
	round    int
	sites    map[int]int // place in reads
	reads    []Read
	last     map[int]int64 // where a site read last
	stored   map[[2]int64]bool

	rounds  [][][]Read // by round, then block
	reading map[Read]int64
	writing map[Read]int64
}

func (c *counter) begin(round int) {
	c.end()
	c.begun, c.round, c.steps = true, round, 0
	if round == 0 {
		c.steps = c.straight
	}
	clear(c.sites)
	clear(c.last)
	clear(c.stored)
	c.reads = nil
}

func (c *counter) end() {
	if !c.begun {
		return
	}
	c.begun = false
	if c.steps == 0 && len(c.reads) == 0 && len(c.stored) == 0 {
		return // no tile was left for it
	}
	c.counts.Blocks++
	c.counts.Steps += c.steps
	c.counts.Longest = max(c.counts.Longest, c.steps)
	for len(c.rounds) <= c.round {
		c.rounds = append(c.rounds, nil)
	}
	c.rounds[c.round] = append(c.rounds[c.round], c.reads)
	for _, r := range c.reads {
		key := Read{Array: r.Array, At: r.At}
		c.reading[key] = max(c.reading[key], r.Bytes)
	}
}

func (c *counter) step(o *op) {
	c.steps++
	c.counts.Lanes += o.lanes
	c.counts.Special += o.special
}

func (c *counter) move(t move) {
	bytes := (t.elements*t.bits + 7) / 8
	a := &c.arrays[t.base]
	a.Read, a.Write = a.Read || t.op.loads(), a.Write || t.op.stores()
	if !t.lost {
		if !a.touched {
			a.low, a.high, a.touched = t.low, t.high, true
		}
		a.low, a.high = min(a.low, t.low), max(a.high, t.high)
	}
	t.line = cmp.Or(t.line, t.op.line)
	switch {
	case t.lost: // no place is its own
		c.lost--
		t.low = c.lost
		a.lost = true
		c.note(fmt.Sprintf("where %s is moved depends on what line %d gives: nothing of it is taken to be there already", a.Name, t.line))
	case t.maybe && t.op.loads():
		c.counts.MaybeBytes += bytes
		c.note(fmt.Sprintf("which elements of %s are loaded depends on what line %d gives: the band has all of them and none", a.Name, t.line))
	case t.maybe:
		c.note(fmt.Sprintf("which elements of %s are stored depends on what line %d gives: all are taken to be", a.Name, t.line))
	}
	key := [2]int64{int64(t.base), t.low}
	if t.op.stores() {
		if t.op.name == "tt.atomic_rmw" || t.op.name == "tt.descriptor_reduce" {
			c.note("what is added to " + a.Name + " atomically counts as stored: how blocks wait for each other is not in the model")
		}
		if !c.stored[key] {
			c.stored[key] = true
			c.counts.OutBytes += bytes
			read := Read{Array: t.base, At: t.low}
			c.writing[read] = max(c.writing[read], bytes)
		}
		return
	}
	switch {
	case t.step && c.stored[key]:
		c.counts.RevisedBytes += bytes
		return
	case t.step:
		c.counts.StepBytes += bytes
	default:
		c.counts.OnceBytes += bytes
	}
	at, ok := c.sites[t.op.site]
	if !ok {
		at = len(c.reads)
		c.sites[t.op.site] = at
		c.reads = append(c.reads, Read{Array: t.base, At: t.low})
	}
	if ok && c.last[t.op.site] == t.low {
		return // it is there
	}
	c.last[t.op.site] = t.low
	c.reads[at].Bytes += bytes
}

func (c *counter) note(text string) {
	if !c.noted[text] {
		c.noted[text] = true
		c.counts.Notes = append(c.counts.Notes, text)
	}
}

// What is followed at the most: of all programs, before only some are, and of one.
const (
	maxFollowed = 20e6 // operations, a vector's by its length
	maxProgram  = 5e6
	maxBlocks   = 1 << 16 // whose reads are kept
)

// Numbers checks a launch, and returns the number of each argument that is one, as it is written.
func (k *Kernel) Numbers(l Launch) (map[string]string, error) {
	given := map[string]string{}
	for name, v := range l.Args {
		i := slices.IndexFunc(k.Params, func(p Param) bool { return p.Name == name })
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "arg")); i < 0 && err == nil && strings.HasPrefix(name, "arg") && n >= 0 && n < len(k.Params) {
			i = n
		}
		if i < 0 {
			names := each.Of(k.Params, func(p Param) string { return p.Name })
			return nil, fmt.Errorf("%s has no argument %s (it has %s)", k.Name, name, strings.Join(names, ", "))
		}
		if k.Params[i].Elem != "" {
			return nil, fmt.Errorf("argument %s is a pointer: its size follows from what the kernel touches", name)
		}
		given[k.Params[i].Name] = v
	}
	var missing []string
	for _, p := range k.Params {
		v, ok := given[p.Name]
		switch {
		case p.Elem != "":
		case strings.HasPrefix(p.Type, "f") || p.Type == "bf16":
			if !ok {
				v = "1"
			}
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return nil, fmt.Errorf("argument %s = %s: want a number", p.Name, v)
			}
			given[p.Name] = strconv.FormatFloat(f, 'e', 6, 64)
		case !ok:
			missing = append(missing, p.Name)
		default:
			if _, err := strconv.ParseInt(v, 10, 64); err != nil {
				return nil, fmt.Errorf("argument %s = %s: want an integer", p.Name, v)
			}
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s needs the value of %s", k.Name, strings.Join(missing, ", "))
	}
	return given, nil
}

// Count counts a launch. What is not understood is an *UnsupportedError.
func (k *Kernel) Count(ctx context.Context, l Launch) (*Counts, error) {
	numbers, err := k.Numbers(l)
	if err != nil {
		return nil, err
	}
	c := &counter{dots: map[*op]int64{}, noted: map[string]bool{}, sites: map[int]int{}, last: map[int]int64{}, stored: map[[2]int64]bool{},
		reading: map[Read]int64{}, writing: map[Read]int64{}, arrays: make([]Array, len(k.Params))}
	if direct(k.body, (*op).multiplies) {
		c.straight = 1
	}
	m := &machine{k: k, ctx: ctx, c: c, values: make([]value, k.slots), args: make([]value, len(k.Params))}
	programs := int64(1)
	for i, n := range l.Grid {
		if n < 1 || int64(n) > 1<<31-1 || programs*int64(n) > 1<<40 {
			return nil, fmt.Errorf("grid %v: each dimension is 1 to 2147483647, and all together at most 2⁴⁰", l.Grid)
		}
		m.grid[i] = int64(n)
		programs *= int64(n)
	}
	for i, p := range k.Params { // arguments are the first slots
		switch {
		case p.Elem != "":
			m.args[i] = value{kind: pointer, base: i}
			c.arrays[i] = Array{Name: p.Name, Elem: p.Elem}
		case strings.HasPrefix(p.Type, "i"):
			n, _ := strconv.ParseInt(numbers[p.Name], 10, 64)
			m.args[i] = num(n)
		}
	}
	follow, every := programs, int64(1)
	for done, id := int64(0), int64(0); done < follow; done, id = done+1, id+every {
		before := m.ran
		m.limit = before + maxProgram
		if done > 0 && done == follow-1 {
			id = programs - 1
		}
		if err := m.program(id); err != nil {
			return nil, err
		}
		if done == 0 {
			if most := max(16, int64(maxFollowed)/max(1, m.ran)); programs > min(most, maxBlocks) {
				every = (programs + most - 1) / most
				if every = max(every, programs/maxBlocks); every > 1 {
					every |= 1
				}
				follow = (programs + every - 1) / every
			}
		}
	}
	return k.counted(c, programs, follow), nil
}

// counted are the counts of a launch of which some programs were followed.
func (k *Kernel) counted(c *counter, programs, followed int64) *Counts {
	n := c.counts
	n.Programs, n.Followed = programs, followed
	scale := func(x int64) int64 { return int64(float64(x) / float64(followed) * float64(programs)) }
	if followed == programs {
		scale = func(x int64) int64 { return x }
		n.Reads = slices.Concat(c.rounds...)
	}
	for _, into := range []*int64{&n.Blocks, &n.Steps, &n.StepBytes, &n.OnceBytes, &n.RevisedBytes, &n.OutBytes, &n.MaybeBytes, &n.Lanes, &n.Special} {
		*into = scale(*into)
	}
	walk(k.body, func(o *op) {
		if times := c.dots[o]; times > 0 {
			a, b, out := o.from[0], o.from[1], o.to[0]
			d := Dot{M: 1, N: 1, K: 1, A: a.elem, B: b.elem, Precision: precisionOf(o.text), Times: scale(times)}
			for i, size := range out.dims {
				if i == len(out.dims)-1 {
					d.N = int64(size)
				} else {
					d.M *= int64(size)
				}
			}
			if len(a.dims) > 0 {
				d.K = int64(a.dims[len(a.dims)-1])
			}
			n.Dots = append(n.Dots, d)
		}
	})
	for r, bytes := range c.reading {
		c.arrays[r.Array].readBytes += bytes
	}
	for r, bytes := range c.writing {
		c.arrays[r.Array].writtenBytes += bytes
	}
	for i, a := range c.arrays {
		if k.Params[i].Elem == "" {
			continue
		}
		if a.lost {
			a.Bytes = scale(max(a.readBytes, a.writtenBytes))
			a.Elements = a.Bytes
		} else if a.touched {
			whole := ((a.high-a.low+1)*Bits(a.Elem) + 7) / 8
			a.Bytes = min(whole, scale(max(a.readBytes, a.writtenBytes)))
			a.Elements = a.high + 1
		}
		n.Arrays = append(n.Arrays, a)
	}
	return &n
}

var precisionText = regexp.MustCompile(`(?:inputPrecision|allowTF32) = ([^ ,}]*)`)

// precisionOf reads how a product of float32 is done, in the words of today and of before.
func precisionOf(text string) string {
	found := precisionText.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return cmp.Or(map[string]string{"true": "tf32", "false": "ieee"}[found[1]], found[1])
}
