package tile_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/tile"
)

// wantComment is what a line of a bad program says about itself: the whole
// message after file, line and program. "//." stands for the line above.
var wantComment = regexp.MustCompile(`(?m)// want: (.*)$`)

// wants returns the messages that a test file announces, as Error prints them.
func wants(t *testing.T, file string) []string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, line := range strings.Split(string(source), "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			all = append(all, "tile/"+file+":"+strconv.Itoa(i+1)+": bad: "+strings.TrimSpace(m[1]))
		}
	}
	return all
}

// TestVerify_Refuses builds each bad program of a file; together they must report
// exactly the messages that the file announces, each at its own line.
func TestVerify_Refuses(t *testing.T) {
	for _, set := range []struct {
		file  string
		cases []badCase
	}{
		{"bad_parts_test.go", badParts},
		{"bad_visits_test.go", badVisits},
		{"bad_padding_test.go", badPadding},
		{"bad_builder_test.go", badBuilder},
		{"bad_steps_test.go", badSteps},
	} {
		var got []string
		for _, c := range set.cases {
			b := tile.New("bad")
			c.build(b)
			_, err := b.Programs()
			if err == nil {
				t.Errorf("%s: %s: accepted", set.file, c.name)
				continue
			}
			got = append(got, strings.Split(err.Error(), "\n")...)
		}
		want := wants(t, set.file)
		for _, m := range want {
			if !slices.Contains(got, m) {
				t.Errorf("missing:    %s", m)
			}
		}
		for _, m := range got {
			if !slices.Contains(want, m) {
				t.Errorf("unexpected: %s", m)
			}
		}
	}
}

type badCase struct {
	name  string
	build func(*tile.Builder)
}

// plain adds the refs of a matmul over axes i, j, k to b.
func plain(b *tile.Builder, i, j, k tile.IndexExpr) (x, w, o *tile.Ref) {
	x = b.In("x", tile.Float32, tile.Array(8, 12), tile.Block(4, 4).At(i, k))
	w = b.In("w", tile.Float32, tile.Array(12, 8), tile.Block(4, 4).At(k, j))
	o = b.Out("o", tile.Float32, tile.Array(8, 8), tile.Block(4, 4).At(i, j))
	return x, w, o
}

const zero = tile.Const(0)
