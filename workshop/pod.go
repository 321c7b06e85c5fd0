package workshop

import (
	"context"
	"fmt"
	"math"

	"matladder/machine/mesh"
	"matladder/model"
	blank "matladder/workshop/blanks/ex10"
	yours "matladder/workshop/exercises/ex10"
	solved "matladder/workshop/solutions/ex10"
)

var sharePod = exerciseOf[podShare](declares{"Gather": {yours.Gather, blank.Gather, solved.Gather}, "Most": {yours.Most, blank.Most, solved.Most}})

type podShare struct {
	Gather func(bytes float64, chips int) float64
	Most   func(hidden int) int
}

// along are meshes of v5e with so many chips along model, of one kind: a shorter axis than 16
// is a line.
func along(chips int) (model.Placement, error) {
	d, _, err := model.FindSlice("v5e")
	if err != nil {
		return model.Placement{}, err
	}
	return model.Place(mesh.Mesh{{Name: mesh.Data, Size: chips}, {Name: mesh.Model, Size: chips}}, d)
}

func (p podShare) check(_ context.Context, r *Report) error {
	const peak = 197e12
	axes := map[int]model.Placement{}
	for _, n := range []int{1, 2, 4, 8, 16} {
		at, err := along(n)
		if err != nil {
			return err
		}
		axes[n] = at
	}
	for _, x := range []struct {
		bytes int64
		chips int
	}{{33554432, 16}, {33554432, 4}, {1 << 30, 8}, {65536, 16}, {65536, 2}, {65536, 1}} {
		want, got := axes[x.chips].Collective("all-gather", x.bytes, mesh.Model).Seconds, p.Gather(float64(x.bytes), x.chips)
		call := fmt.Sprintf("Gather(%d, %d)", x.bytes, x.chips)
		r.expect(math.Abs(got-want) <= 1e-6*want, fmt.Sprintf("%s = %s", call, micro(got)), fmt.Sprintf("%s is %s, should be %s", call, micro(got), micro(want)))
	}
	for _, hidden := range []int{28672, 14336, 4096, 2048, 53248} {
		want := 1
		const rows = 1 << 20
		for n := 2; n <= 16; n *= 2 {
			at := axes[n]
			send := 2 * 2 * rows * float64(n-1) / float64(n) / at.Bandwidth(mesh.Model) // of each column of D
			if multiply := 6 * rows * float64(hidden) / float64(n) / peak; send <= multiply {
				want = n
			}
		}
		got := p.Most(hidden)
		r.expect(got == want, fmt.Sprintf("Most(%d) = %d", hidden, got), fmt.Sprintf("Most(%d) is %d, should be %d", hidden, got, want))
	}
	return nil
}

// micro is a time in µs.
func micro(seconds float64) string { return fmt.Sprintf("%.4g µs", seconds*1e6) }
