package triton_test

import (
	"regexp"
	"strings"
	"testing"

	"matladder/lower/triton"
	"matladder/tile"
)

var accesses = regexp.MustCompile(`(tt\.load|tt\.store|gpu\.barrier)\b`)

// TestBarriers: threads wait between a store to a block of an output and a load of it, and
// between a load of it and the next store; not where a step only adds to it.
func TestBarriers(t *testing.T) {
	for name, test := range map[string]struct {
		body func(t *tile.Builder, x, o, p *tile.Ref)
		want string
	}{
		"added":     {func(t *tile.Builder, x, o, p *tile.Ref) { t.Store(o, x); t.Accumulate(o, x); t.Store(p, x) }, "load store load barrier load store load store"},
		"read back": {func(t *tile.Builder, x, o, p *tile.Ref) { t.Store(o, x); t.Store(p, o); t.Store(o, x) }, "load store barrier load store load barrier store"},
	} {
		b := tile.New("barriers")
		at := tile.Block(16, 16).At(b.Axis("i", 2, tile.Parallel), tile.Const(0))
		x := b.In("x", tile.Float32, tile.Array(32, 16), at)
		o, p := b.Out("o", tile.Float32, tile.Array(32, 16), at), b.Out("p", tile.Float32, tile.Array(32, 16), at)
		test.body(b, x, o, p)
		programs, err := b.Programs()
		if err != nil {
			t.Fatal(err)
		}
		launch, err := triton.Lower(programs, triton.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range accesses.FindAllStringSubmatch(launch.Kernels[0].Body, -1) {
			_, op, _ := strings.Cut(m[1], ".")
			got = append(got, op)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s\n%s", name, got, test.want, launch.Kernels[0].Body)
		}
	}
}
