package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/problem"
)

// firstFamily is that of rows whose family is not told: files older than the column have no other.
const firstFamily = "matmul"

// FamilyName is the problem family of the row.
func (r *Record) FamilyName() string { return cmp.Or(r.Family, firstFamily) }

// FamilyWord is FamilyName for titles and names of files; "" for the one that goes without saying.
func (r *Record) FamilyWord() string {
	return words.When(r.FamilyName() != firstFamily, "%s", r.Family)
}

// inputsOrder are the distributions of inputs, those that change the fewest bits first.
var inputsOrder = []string{"zeros", "ones", "sparse", "bits", "integers", "normal", plainInputs}

const plainInputs = "uniform"

// InputsWord is the distribution of the inputs, "" for the one that goes without saying.
func (r *Record) InputsWord() string {
	return words.When(r.Dist != plainInputs, "%s", r.Dist)
}

// LoadWord is the row's rest and load, "" where there is neither.
func (r *Record) LoadWord() (text string) {
	if r.Duty > 0 {
		text = fmt.Sprintf("%d %% duty for %g s", r.Duty, r.WindowSeconds)
	}
	if r.RestSeconds > 0 {
		text = strings.TrimSpace(text + fmt.Sprintf(" after %g s of rest", r.RestSeconds))
	}
	return text
}

// Under are the inputs and the load in words, "" where both go without saying.
func (r *Record) Under() string {
	return words.Joined(", ", words.Between("", r.InputsWord(), " inputs"), r.LoadWord())
}

// Sustained reports whether a row is of the last third of its window, or of none.
func (r *Record) Sustained() bool {
	return r.Duty == 0 || r.OffsetSeconds.Value >= r.WindowSeconds*2/3
}

// CompareInputs orders distributions by how many bits change in them, about.
func CompareInputs(a, b string) int {
	rank := func(s string) []int {
		word, text, _ := strings.Cut(s, ":")
		n, _ := strconv.Atoi(text)
		if word == "sparse" {
			n = -n
		}
		return []int{slices.Index(inputsOrder, word), n}
	}
	return cmp.Or(slices.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// A named is a size with its name.
type named struct {
	name string
	size int
}

// batchName is the size that counts equal problems at once.
const batchName = "batch"

// ShapeName spells the sizes of the row: m=512,k=512,n=512.
func (r *Record) ShapeName() string {
	if r.Shape != "" || r.M == 0 && r.K == 0 && r.N == 0 {
		return r.Shape
	}
	shape := fmt.Sprintf("m=%d,k=%d,n=%d", r.M, r.K, r.N)
	if r.Batch > 1 {
		shape += fmt.Sprintf(",%s=%d", batchName, r.Batch)
	}
	return shape
}

// parseShape reads what ShapeName spells.
func parseShape(shape string) ([]named, error) {
	var list []named
	for _, part := range strings.Split(shape, ",") {
		name, text, ok := strings.Cut(part, "=")
		size, err := strconv.Atoi(text)
		if !ok || name == "" || err != nil || size < 1 {
			return nil, fmt.Errorf("%q: want name=number joined by commas, numbers from 1", short(shape))
		}
		if slices.ContainsFunc(list, func(o named) bool { return o.name == name }) {
			return nil, fmt.Errorf("%q: %s is there twice", short(shape), short(name))
		}
		list = append(list, named{name, size})
	}
	return list, nil
}

// sizes are those of the row without a batch, which is beside them.
func (r *Record) sizes() (list []named, batch int) {
	all, _ := parseShape(r.ShapeName())
	batch = 1
	for _, s := range all {
		if s.name == batchName {
			batch = s.size
			continue
		}
		list = append(list, s)
	}
	return list, batch
}

// checkShape reports sizes that no row may have. Columns m, k, n and batch say again what
// a shape of these names says.
func (r *Record) checkShape() (column string, err error) {
	if strings.Trim(r.Family, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "family", fmt.Errorf("%q is not a word of a to z, 0 to 9 and _", short(r.Family))
	}
	if r.Shape == "" && r.FamilyWord() != "" {
		return "shape", fmt.Errorf("empty: rows of a family have sizes")
	}
	columns := [...]struct {
		column        string
		value, absent int // absent is what a shape without the size has
	}{{"m", r.M, 0}, {"k", r.K, 0}, {"n", r.N, 0}, {batchName, r.Batch, 1}}
	if r.Shape == "" {
		for _, c := range columns {
			if c.value < 1 {
				return c.column, fmt.Errorf("must be at least 1")
			}
		}
		return "m", r.checkWork()
	}
	list, err := parseShape(r.Shape)
	if err != nil {
		return "shape", err
	}
	for _, c := range columns {
		told := c.absent
		if at := slices.IndexFunc(list, func(n named) bool { return n.name == c.column }); at >= 0 {
			told = list[at].size
		}
		if c.value != told && !(c.column == batchName && c.value == 0) {
			return c.column, fmt.Errorf("%d, and %d in the column shape", c.value, told)
		}
	}
	return "shape", r.checkWork()
}

// checkWork reports sizes whose FLOPs cannot be counted.
func (r *Record) checkWork() error {
	if _, ok := FLOPCount(r.Batch, r.M, r.K, r.N); r.M > 0 && !ok {
		return fmt.Errorf("2·batch·m·n·k of %d×%d×%d×%d overflows 63 bits", r.Batch, r.M, r.N, r.K)
	}
	return nil
}

// splitSizes are those of the row without a batch: first those that every problem of the
// family names, then the others that this one does. Of a family that this program does not
// know all are of the first kind.
func (r *Record) splitSizes() (own, others []named, batch int) {
	list, batch := r.sizes()
	f, err := problem.Find(r.FamilyName())
	if err != nil {
		return list, nil, batch
	}
	for _, s := range list {
		if i, ok := f.Index(s.name); ok && f.Sizes[i].Default != 0 {
			others = append(others, s)
		} else {
			own = append(own, s)
		}
	}
	return own, others, batch
}

// Size names the problem's sizes: 512 where all are equal, else 512×1024×2048; behind
// colons those that the family takes for granted and this problem has otherwise,
// 512:dim=128; with the batch in front if there is one.
func (r *Record) Size() string {
	list, others, batch := r.splitSizes()
	size := joinedSizes(list)
	if n, ok := equal(list); ok {
		size = strconv.Itoa(n)
	}
	for _, s := range others {
		size += fmt.Sprintf(":%s=%d", s.name, s.size)
	}
	if batch > 1 {
		size = strconv.Itoa(batch) + " of " + size
	}
	return size
}

// Sizes are all sizes joined by ×, without a batch.
func (r *Record) Sizes() string {
	list, _ := r.sizes()
	return joinedSizes(list)
}

func joinedSizes(list []named) string {
	return strings.Join(each.Of(list, func(s named) string { return strconv.Itoa(s.size) }), "×")
}

// SizeNames are the names of the sizes that every problem of the family names, joined by
// separator: m = k = n.
func (r *Record) SizeNames(separator string) string {
	list, _, _ := r.splitSizes()
	return strings.Join(each.Of(list, func(s named) string { return s.name }), separator)
}

// Square is the size of a problem that is one of its kind and has all sizes equal, and none
// but those that every problem of its family names.
func (r *Record) Square() (n int, ok bool) {
	list, others, batch := r.splitSizes()
	if n, ok = equal(list); batch > 1 || len(others) > 0 {
		return 0, false
	}
	return n, ok
}

func equal(list []named) (n int, ok bool) {
	if len(list) == 0 || slices.ContainsFunc(list, func(s named) bool { return s.size != list[0].size }) {
		return 0, false
	}
	return list[0].size, true
}

// A Figure is what the speed of a row is told in.
type Figure string

// The figures. An empty cell is PerFLOPs.
const (
	PerFLOPs Figure = "flops" // FLOP/s or OP/s: flops over the time, against peak_flops
	PerBytes Figure = "bytes" // bytes/s: bytes_min over the time, against bandwidth
)

// Figures lists every legal cell of the column.
var Figures = []Figure{PerFLOPs, PerBytes}

// Work is what a launch does, in what the row's figure counts; 0 if it is not known.
func (r *Record) Work() float64 {
	if r.Figure == PerBytes {
		return float64(r.BytesMin)
	}
	if flops, ok := FLOPCount(r.Batch, r.M, r.K, r.N); ok {
		return float64(flops)
	}
	return float64(r.FLOPs)
}

// Roof is the most that Rate can be on the device, in what the row's figure counts; 0 if
// it is not known.
func (r *Record) Roof() float64 {
	if r.Figure == PerBytes {
		return r.Bandwidth
	}
	return r.PeakFLOPs
}

// RoofName is what Roof is, for people: peak, or bandwidth.
func (r *Record) RoofName() string {
	if r.Figure == PerBytes {
		return "bandwidth"
	}
	return "peak"
}

// A Unit is what a rate counts.
type Unit int

// The units.
const (
	FLOPs Unit = iota
	OPs        // of integers
	Bytes
)

// RateOf is what the row's rate counts.
func (r *Record) RateOf() Unit {
	if r.Figure == PerBytes {
		return Bytes
	}
	return Operations(r.Integer())
}

// Operations is what a peak counts, whatever a row's rate does.
func Operations(integers bool) Unit {
	if integers {
		return OPs
	}
	return FLOPs
}

// PerSecond is the unit without a prefix: FLOP/s.
func (u Unit) PerSecond() string { return [...]string{"FLOP/s", "OP/s", "B/s"}[u] }

// RateUnit returns the unit for rates up to most (in FLOP/s, OP/s or bytes/s) and what to
// divide them by: TFLOP/s and 1e12, or GFLOP/s and 1e9 below one TFLOP/s; TOP/s and GOP/s
// for integers, TB/s and GB/s for bytes.
func RateUnit(most float64, u Unit) (unit string, divisor float64) {
	if most >= 1e12 {
		return "T" + u.PerSecond(), 1e12
	}
	return "G" + u.PerSecond(), 1e9
}

// CompareSizes orders rows of a family by what a launch does, and of as much by the size.
func CompareSizes(a, b *Record) int {
	return cmp.Or(CompareWork(a, b), strings.Compare(a.Size(), b.Size()))
}

// CompareWork orders problems of a family by what a launch does.
func CompareWork(a, b *Record) int {
	volume := func(r *Record) float64 {
		list, batch := r.sizes()
		v := float64(batch)
		for _, s := range list {
			v *= float64(s.size)
		}
		return v
	}
	wa, wb := a.Work(), b.Work()
	if math.Min(wa, wb) == 0 {
		wa, wb = volume(a), volume(b)
	}
	return cmp.Compare(wa, wb)
}

// SizesOf are the first n sizes of the row, without a batch; fewer if it has no more.
func (r *Record) SizesOf(n int) []int {
	list, _ := r.sizes()
	return each.Of(list[:min(n, len(list))], func(s named) int { return s.size })
}

// contracted is the size that sums are as long as: the one called k, or else the last.
func (r *Record) contracted() named {
	list, _ := r.sizes()
	if at := slices.IndexFunc(list, func(s named) bool { return s.name == "k" }); at >= 0 {
		return list[at]
	}
	if len(list) == 0 {
		return named{"length", 0}
	}
	return list[len(list)-1]
}

// Contracted is how long sums are.
func (r *Record) Contracted() int { return r.contracted().size }

// ContractedName is what that length is called.
func (r *Record) ContractedName() string { return r.contracted().name }
