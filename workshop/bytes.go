package workshop

import (
	"context"
	"fmt"

	"matladder/problem"
	"matladder/tile"
	blank "matladder/workshop/blanks/ex4"
	yours "matladder/workshop/exercises/ex4"
	solved "matladder/workshop/solutions/ex4"
)

var countBytes = exerciseOf[counting](declares{"V2": {yours.V2, blank.V2, solved.V2}, "V3": {yours.V3, blank.V3, solved.V3}, "V4": {yours.V4, blank.V4, solved.V4}})

type counting struct {
	V2 func(m, k, n, bm, bn int) int
	V3 func(m, k, n int) int
	V4 func(m, k, n int, s tile.Blocks) int
}

func (c counting) check(_ context.Context, r *Report) error {
	for _, x := range []struct {
		kernel  string
		m, k, n int
		s       tile.Blocks
	}{
		{"v2", 1024, 1024, 1024, tile.Blocks{M: 512, N: 512}},
		{"v2", 1024, 512, 4096, tile.Blocks{M: 256, N: 2048}},
		{"v2", 1000, 300, 700, tile.Blocks{M: 128, N: 256}},
		{"v4", 1024, 1024, 1024, tile.Blocks{M: 256, K: 256, N: 256}},
		{"v4", 4096, 4096, 4096, tile.Blocks{M: 512, K: 1024, N: 1024}},
		{"v4", 1000, 1300, 700, tile.Blocks{M: 256, K: 512, N: 128}},
		{"v3", 1024, 1024, 1024, tile.Blocks{M: 128, K: 128, N: 128}},
		{"v3", 1000, 300, 2000, tile.Blocks{M: 128, K: 128, N: 128}},
	} {
		if x.kernel == "v2" {
			x.s.K = x.k
		}
		want, err := counts(x.kernel, problem.New(x.m, x.k, x.n, tile.Float32), x.s)
		if err != nil {
			return err
		}
		var got int
		call := ""
		switch x.kernel {
		case "v2":
			got, call = c.V2(x.m, x.k, x.n, x.s.M, x.s.N), fmt.Sprintf("V2(%d, %d, %d, %d, %d)", x.m, x.k, x.n, x.s.M, x.s.N)
		case "v3":
			got, call = c.V3(x.m, x.k, x.n), fmt.Sprintf("V3(%d, %d, %d)", x.m, x.k, x.n)
		default:
			got, call = c.V4(x.m, x.k, x.n, x.s), fmt.Sprintf("V4(%d, %d, %d, %s)", x.m, x.k, x.n, x.s)
		}
		r.expect(int64(got) == want.BytesMoved, fmt.Sprintf("%s = %d", call, got), fmt.Sprintf("%s is %d, should be %d", call, got, want.BytesMoved))
	}
	return nil
}
