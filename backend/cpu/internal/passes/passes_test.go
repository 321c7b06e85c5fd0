package passes

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// productPlan is the plan of a product, compiled for the pure Go kernels.
func productPlan(t *testing.T) *plan.Plan {
	t.Helper()
	b := tile.New("product")
	zero := tile.Const(0)
	x := b.In("a", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
	y := b.In("b", tile.Float32, tile.Array(8, 4), tile.Block(8, 4).At(zero, zero))
	b.Store(b.Out("o", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero)), tile.Dot(x, y))
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(programs[0], plan.Machine{Kernels: gemm.For(gemm.Generic), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPasses_Told: a plan tells of every pass, by its name and in the order in which they run.
func TestPasses_Told(t *testing.T) {
	var text plan.Text
	productPlan(t).Print(&text)
	var told, want []string
	for _, line := range strings.Split(text.String(), "\n") {
		if line != "" && line[0] != ' ' {
			told = append(told, strings.Fields(line)[0])
		}
	}
	for _, pass := range Passes {
		want = append(want, pass.Name)
	}
	want = append(want, "loops")
	if got, want := strings.Join(told, " "), strings.Join(want, " "); got != want {
		t.Errorf("told of %s; passes are %s", got, want)
	}
}

// TestStep_Writers holds what is decided of a step to the files that decide it.
func TestStep_Writers(t *testing.T) {
	places := map[reflect.Type]string{
		reflect.TypeFor[plan.Fused]():    "fuse merge",
		reflect.TypeFor[plan.Written]():  "writes",
		reflect.TypeFor[plan.Compiled](): "epilogue/",
		reflect.TypeFor[plan.Grouped]():  "rowloops strips band",
		reflect.TypeFor[plan.Readied]():  "wide",
		reflect.TypeFor[plan.Sized]():    "buffers matrices", // and of plan.Matrix
	}
	groups, found := 0, 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plan.Step]()) {
		if place, ok := places[f.Type]; f.Anonymous && ok {
			groups++
			for i := range f.Type.NumField() {
				found++
				writersOf(t, f.Type.Field(i).Name, place)
			}
		}
	}
	if groups != 6 || found < 20 {
		t.Errorf("%d groups of %d fields", groups, found)
	}
}

// writersOf wants a field of steps written in some files alone.
func writersOf(t *testing.T, field, place string) {
	t.Helper()
	written := regexp.MustCompile(`\b(s|st|x|g|m|c\.step)\.` + field + `(, [\w.]+)*( =| \+=) `)
	for _, folder := range []string{"../plan", "../passes", "../epilogue", "../exec"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".go")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			here := slices.Contains(strings.Fields(place), name) || slices.Contains(strings.Fields(place), filepath.Base(folder)+"/")
			if line := written.Find(text); line != nil && !here && !strings.HasSuffix(name, "_test") {
				t.Errorf("%s: %q is for %s to write", file, line, place)
			}
		}
	}
}
