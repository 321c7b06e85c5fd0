package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matladder/workshop"
)

// attempt is what somebody may write into an exercise: its blank, or its solution with edits.
type attempt struct {
	exercise int
	name     string
	edits    []string // pairs: old, new; none of old is "" (the whole file)
}

const (
	build1 = "t := tile.New(\"ex1\")"
	loops  = "k := t.Axis(\"k\", tile.Ceil(p.K, s.K), tile.Arbitrary)"
)

// wrong are attempts that compile. Each begins with the solution.
var wrong = []attempt{
	{0, "half the work", []string{"return 2 *", "return"}},
	{0, "one dispatch", []string{"(dispatch + DeviceSeconds(flops, peak, slow)) /", "DeviceSeconds(flops, peak, slow) /"}},
	{0, "a rate, not a time", []string{"flops / (peak * share)", "flops * peak * share"}},
	{0, "a loop over an integer", []string{"return 2 * float64(m) * float64(k) * float64(n)", "s := 0.0\n\tfor range n * m {\n\t\ts++\n\t}\n\tvar fs []func() int\n\tfor i := range min(uint8(2), 3) {\n\t\tfs = append(fs, func() int { return int(i) })\n\t}\n\treturn s + float64(fs[0]()) - float64(min(fs[1](), 1, max(m, 2)))"}},
	{1, "no activation", []string{"tile.Max(product, tile.Number(0))", "product"}},
	{1, "another activation", []string{"tile.Max(", "tile.Min("}},
	{1, "a panic", []string{build1, `if p.M > 0 {
		panic("out of order")
	}
	` + build1}},
	{1, "a nil pointer", []string{"t.Store(", "var none *tile.Ref\n\t_ = none.Name\n\tt.Store("}},
	{1, "nothing built", []string{"return t.Programs()", "return nil, nil"}},
	{1, "a nil program", []string{"return t.Programs()", "return []*tile.Program{nil}, nil"}},
	{1, "an error", []string{"return t.Programs()", "_, err := tile.New(\"none\").Programs()\n\treturn nil, err"}},
	{1, "a program of something else", []string{build1, "p.M++\n\t" + build1}},
	{1, "two passes", []string{"t.Store(o, tile.Cast(tile.Max(product, tile.Number(0)), p.Out)) // or tile.Relu(product)\n\treturn t.Programs()", `x := t.Out("x", tile.Float32, tile.Array(p.M, p.N), tile.Block(p.M, p.N).At(zero, zero))
	t.Store(x, product)
	t.Store(o, tile.Cast(product, p.Out))
	first, err := t.Programs()
	if err != nil {
		return nil, err
	}
	t = tile.New("relu")
	x = t.In("x", tile.Float32, tile.Array(p.M, p.N), tile.Block(p.M, p.N).At(zero, zero))
	o = t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(p.M, p.N).At(zero, zero))
	t.Store(o, tile.Cast(tile.Relu(x), p.Out))
	second, err := t.Programs()
	return append(first, second...), err`}},
	{1, "dtypes that differ", []string{"tile.Cast(tile.Max(product, tile.Number(0)), p.Out)", "tile.Max(product, a)"}},
	{2, "the axes in a list", []string{build2(), `axes := map[string]*tile.Axis{}
	for _, name := range []string{"j", "i"} {
		size := tile.Ceil(p.M, s.M)
		if name == "j" {
			size = tile.Ceil(p.N, s.N)
		}
		axes[name] = t.Axis(name, size, tile.Parallel)
	}
	i, j := axes["i"], axes["j"]`}},
	{2, "an output that is not covered", []string{"tile.Block(s.M, s.N).At(i, j)", "tile.Block(s.M, s.N).At(i, zero)"}},
	{2, "the wrong panel", []string{"At(zero, j)", "At(zero, i)"}},
	{3, "at every step", []string{"t.When(k.First(), func() { t.Fill(o, 0) })", "t.Fill(o, 0)"}},
	{3, "at the last step", []string{"k.First()", "k.Last()"}},
	{3, "never", []string{"\tt.When(k.First(), func() { t.Fill(o, 0) })\n", ""}},
	{3, "one instead of zero", []string{"t.Fill(o, 0)", "t.Fill(o, 1)"}},
	{3, "a parallel k", []string{loops, strings.Replace(loops, "Arbitrary", "Parallel", 1)}},
	{3, "wrong answers", []string{"OneBlock  = Nothing", "OneBlock  = \"reference \" + Verify"}},
	{3, "an answer that is a number", []string{"AtEvery   = Reference", "AtEvery   = 3"}},
	{3, "an answer that is missing", []string{"\tNever     = Verify\n", ""}},
	{4, "b once", []string{"readB := k * n * tile.Ceil(m, bm)", "readB := k * n + 0*bm"}},
	{4, "blocks that do not overhang", []string{"tile.Ceil(n, s.N)", "(n / s.N)"}},
	{4, "no bytes", []string{"const element = 4", "const element = 1"}},
	{4, "a division by zero", []string{"return V4(m, k, n, tile.Blocks{M: 128, K: 128, N: 128})", "zero := k - k\n\treturn m / zero"}},
	{4, "an index beyond the end", []string{"return V4(m, k, n, tile.Blocks{M: 128, K: 128, N: 128})", "return []int{1, 2}[n]"}},
	{5, "a narrow accumulator", []string{"t.Scratch(\"acc\", p.Acc,", "t.Scratch(\"acc\", p.Out,"}},
	{5, "rounded at every step", []string{"t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })", "t.Store(o, tile.Cast(acc, p.Out))"}},
	{5, "an accumulator of all of o", []string{"t.Scratch(\"acc\", p.Acc, s.M, s.N)", "t.Scratch(\"acc\", p.Acc, 2*s.M, s.N)"}},
	{5, "roundings of a float", []string{"return tile.Ceil(k, bk)", "return int(float64(k) / float64(bk))"}},
	{5, "another signature", []string{"func Roundings(k, bk int) int", "func Roundings(k, bk int, _ ...int) int"}},
	{6, "the first scale", []string{"tile.Block(1, s.N).At(zero, j)", "tile.Block(1, s.N).At(zero, zero)"}},
	{6, "no scale", []string{"tile.Mul(tile.Cast(acc, tile.Float32), tile.Mul(sa, sb))", "tile.Add(tile.Cast(acc, tile.Float32), tile.Mul(sa, sb))"}},
	{6, "all scales", []string{"tile.Block(1, s.N).At(zero, j)", "tile.Block(1, p.N).At(zero, zero)"}},
	{7, "blocks that do not fit", []string{"M: 1024, K: 256, N: 1024", "M: 1024, K: 1024, N: 1024", "M: 1024, K: 512, N: 1024", "M: 2048, K: 256, N: 1024"}},
	{7, "blocks that are too small", []string{"M: 1024, K: 256, N: 1024", "M: 512, K: 1024, N: 512", "M: 1024, K: 512, N: 1024", "M: 1024, K: 128, N: 1024"}},
	{7, "blocks that are odd", []string{"M: 1024, K: 256, N: 1024", "M: 1000, K: 256, N: -1"}},
	{8, "sums that do not shrink", []string{"tile.Add(tile.Mul(sum, shrink), tile.RowSum(x))", "tile.Add(sum, tile.RowSum(x))"}},
	{8, "no largest", []string{"math.Inf(-1)", "math.Inf(1)"}},
	{9, "heads apart", []string{"together := p.Group()", "together := 1"}},
	{9, "too many heads", []string{"together := p.Group()", "together := p.Heads"}},
	{10, "a line for all", []string{"links, hops = 2, n/2", "links, hops = 1, n/2"}},
	{10, "no start", []string{" + start + hops*hop", "+ hops*hop"}},
	{10, "all chips", []string{"if send <= multiply {", "if send <= multiply || n > 0 {"}},
	{11, "the first group", []string{"tile.Slice(sb, 0, g, 1)", "tile.Slice(sb, 0, tile.Const(0), 1)"}},
	{11, "a scale that is no power", []string{"math.Exp2(math.Floor(math.Log2(absmax))) / 4", "math.Abs(absmax) / 6"}},
	{11, "a loop of Go", []string{"t.Loop(\"g\", s.K/Group, func(g *tile.Axis) {\n\t\tfrom := tile.Times(g, Group)", "for i := range s.K / Group {\n\t\tg := tile.Const(i)\n\t\tfrom := tile.Times(g, Group)", "tile.Float32)))\n\t})", "tile.Float32)))\n\t}"}},
	{12, "no registers for it", []string{"return 6, 2", "return 12, 2"}},
	{12, "one vector", []string{"return 6, 2", "return 14, 1"}},
	{12, "a sum that waits", []string{"return 6, 2", "return 1, 3"}},
	{12, "another tile that fits", []string{"return 6, 2", "return 4, 3", "return 256, 126", "return 168, 192"}},
	{12, "integers", []string{"float64(rows+vectors) / float64(rows*vectors)", "float64((rows + vectors) / (rows * vectors))"}},
	{12, "blocks beyond caches", []string{"return 256, 126", "return 512, 252"}},
	{12, "half a tile", []string{"return 256, 126", "return 256, 128"}},
	{12, "no blocks", []string{"return 256, 126", "return 0, -1"}},
	{13, "columns for rows", []string{"tile.Dot(a, b, tile.TransB)", "tile.Dot(a, b)"}},
	{13, "zero is no least", []string{"math.Inf(-1)", "0*math.Pi"}},
	{13, "the last block alone", []string{"tile.Max(best, tile.RowMax(matches))", "tile.RowMax(matches)"}},
	{13, "a sum", []string{"tile.RowMax(matches)", "tile.RowSum(matches)"}},
	{13, "a parallel j", []string{"tile.Ceil(n, s.N), tile.Arbitrary", "tile.Ceil(n, s.N), tile.Parallel"}},
	{13, "the first text only", []string{"At(j, zero)", "At(zero, zero)"}},
	{13, "never stored", []string{"t.When(j.Last(), func() { t.Store(o, best) })", "_ = o"}},
	{13, "all matches kept", []string{"tile.Float32, s.M, s.N)\n", "tile.Float32, 2*s.M, s.N)\n"}},
	{13, "without scratch", []string{"\tmatches := t.Scratch(\"matches\", tile.Float32, s.M, s.N)\n", "", "\tt.Store(matches, tile.Dot(a, b, tile.TransB))\n", "", "tile.RowMax(matches)", "tile.RowMax(tile.Dot(a, b, tile.TransB))"}},
}

func build2() string {
	return "j := t.Axis(\"j\", tile.Ceil(p.N, s.N), tile.Parallel)\n\ti := t.Axis(\"i\", tile.Ceil(p.M, s.M), tile.Parallel)"
}

// refused are attempts that do not compile.
var refused = []attempt{
	{0, "no Go", []string{"return 2 *", "return 2 * *"}},
	{0, "a brace too few", []string{"peak, fast))\n}", "peak, fast))\n"}},
	{0, "an import", []string{"package ex0", "package ex0\n\nimport \"math\""}},
	{0, "a mixture", []string{"return 2 * float64(m)", "return 2 * m"}},
	{0, "no return", []string{"return flops / (peak * share)", ""}},
	{1, "a name", []string{"tile.Max(product", "tile.Maximum(produkt"}},
	{1, "a number for a value", []string{"tile.Number(0)", "0"}},
	{1, "unused", []string{"product := tile.Dot(a, b)", "product := tile.Dot(a, b)\n\tunused := 3"}},
	{1, "too few", []string{"tile.Dot(a, b)", "tile.Dot(a)"}},
	{1, "a method that is not", []string{"t.Programs()", "t.Program()"}},
	{1, "an axis for a value", []string{"tile.Dot(a, b)", "tile.Dot(a, zero)"}},
	{2, "a semantics that is not", []string{"tile.Ceil(p.N, s.N), tile.Parallel", "tile.Ceil(p.N, s.N), \"parallel\""}},
	{2, "a value for an axis", []string{".At(i, zero)", ".At(i, \"0\")"}},
	{2, "a float for a size", []string{"tile.Block(s.M, s.K)", "tile.Block(1.5, s.K)"}},
	{3, "a closure that returns", []string{"func() { t.Fill(o, 0) }", "func() int { t.Fill(o, 0); return 1 }"}},
	{7, "a field", []string{"K: 256", "L: 256"}},
	{12, "one result of two", []string{"return 6, 2", "return 6"}},
	{13, "an import that is not used", []string{"math.Inf(-1)", "0"}},
}

func (a attempt) source(t *testing.T) string {
	t.Helper()
	e := workshop.All[a.exercise]
	text, err := e.Solution()
	if a.edits == nil {
		text, err = e.Blank()
	}
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(a.edits, 2) {
		if strings.Count(text, pair[0]) < 1 {
			t.Fatalf("exercise %d, %s: the solution has no %q", a.exercise, a.name, pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	return text
}

// overlay has the compiler see attempts, each as a package below folder compiled, and more files.
func overlay(t *testing.T, attempts []attempt, more map[string]string) (file string) {
	t.Helper()
	temp := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	put := func(name, text string) {
		at := filepath.Join(temp, fmt.Sprint(len(files)))
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(here, filepath.FromSlash(name))] = at
	}
	for i, a := range attempts {
		put(a.folder(i)+"/"+workshop.All[a.exercise].Name, a.source(t))
	}
	for name, text := range more {
		put(name, text)
	}
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// folder is one whose files package workshop knows as a learner's.
func (a attempt) folder(i int) string {
	return fmt.Sprintf("compiled/a%d/workshop/exercises/ex%d", i, a.exercise)
}

// goCommand runs go and returns what it prints.
func goCommand(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

var declares = regexp.MustCompile(`(?m)^(?:func |\t|const )([A-Z]\w*)(?:\(| +=)`)

// TestCheck: what Check says of an exercise that is solved, not begun, or wrong is what package
// workshop says of the same file when it is compiled.
func TestCheck(t *testing.T) {
	var attempts []attempt
	for n := range workshop.All {
		attempts = append(attempts, attempt{n, "blank", nil}, attempt{n, "solution", []string{}})
	}
	attempts = append(attempts, wrong...)
	var imports, calls strings.Builder
	for i, a := range attempts {
		fmt.Fprintf(&imports, "a%d \"matladder/tools/site/browser/%s\"\n", i, a.folder(i))
		fmt.Fprintf(&calls, "show(%d, map[string]any{", a.exercise)
		for _, m := range declares.FindAllStringSubmatch(a.source(t), -1) {
			fmt.Fprintf(&calls, "%q: a%d.%s,", m[1], i, m[1])
		}
		calls.WriteString("})\n")
	}
	main := "package main\nimport (\n\"context\"\n\"encoding/json\"\n\"os\"\n\"matladder/workshop\"\n" + imports.String() + ")\nfunc main() {\n" + calls.String() + `}
func show(n int, declared map[string]any) {
	r, err := workshop.All[n].CheckWith(context.Background(), func(name string) any { return declared[name] }, nil)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r.Lines)
	}
	if err != nil {
		panic(err)
	}
}
`
	stdout, stderr, err := goCommand(t, "run", "-overlay", overlay(t, attempts, map[string]string{"compiled/main.go": main}), "./compiled")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	compiled := json.NewDecoder(strings.NewReader(stdout))
	for _, a := range attempts {
		var want []workshop.Line
		if err := compiled.Decode(&want); err != nil {
			t.Fatal(err)
		}
		v, err := Check(t.Context(), workshop.All[a.exercise], a.source(t))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want { // the interpreter does not know which
			want[i].Text = regexp.MustCompile(`(index out of range) \[\d+\] with length \d+`).ReplaceAllString(want[i].Text, "$1")
		}
		if !slices.Equal(v.Lines, want) || v.Mistakes != nil {
			t.Errorf("exercise %d, %s: %v\n%+v\ncompiled:\n%+v", a.exercise, a.name, v.Mistakes, v.Lines, want)
		}
		if v.OK != (a.name == "solution" || a.name == "the axes in a list" || a.name == "a loop of Go" || a.name == "another tile that fits" || a.name == "without scratch") {
			t.Errorf("exercise %d, %s: right is %v", a.exercise, a.name, v.OK)
		}
	}
}

// TestCheck_Mistakes: what does not compile is refused in the compiler's words and lines. Of what
// does not parse, other words say it.
func TestCheck_Mistakes(t *testing.T) {
	_, stderr, err := goCommand(t, "build", "-overlay", overlay(t, refused, nil), "./compiled/...")
	if err == nil {
		t.Fatal("all of them compile")
	}
	for i, a := range refused {
		v, err := Check(t.Context(), workshop.All[a.exercise], a.source(t))
		if err != nil {
			t.Fatal(err)
		}
		var have, want []string
		for _, m := range v.Mistakes {
			have = append(have, fmt.Sprintf("%d: %s", m.Line, m.Text))
		}
		for _, m := range regexp.MustCompile(fmt.Sprintf(`(?m)^.*[/\\]%d:(\d+:)\d+:(.*(?:\n\t.*)*)`, i)).FindAllStringSubmatch(stderr, -1) {
			want = append(want, m[1]+strings.Replace(m[2], "func() int {…}", "(func() int literal)", 1))
		}
		if unparsed := len(want) == 1 && strings.Contains(want[0], "syntax error"); len(want) == 0 || len(have) != len(want) || !unparsed && !slices.Equal(have, want) {
			t.Errorf("exercise %d, %s:\n%s\nthe compiler says\n%s", a.exercise, a.name, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
}
