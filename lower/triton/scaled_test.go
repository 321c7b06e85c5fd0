package triton_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/check"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestScaledMeaning: on targets that multiply by the scales of groups, the sixth rung is one
// tt.dot_scaled a block where the formats allow, and right on ragged shapes.
func TestScaledMeaning(t *testing.T) {
	for _, test := range []struct {
		dtype         string
		size          problem.Sizes
		mixed, scaled bool
		turned        bool
	}{
		{"mxfp8:float32", problem.Sizes{40, 200, 33, 1}, false, true, false},
		{"mxfp8", problem.Sizes{16, 64, 16, 2}, true, true, false},
		{"float8_e5m2:float32:per_block32+token_block+e8m0", problem.Sizes{40, 200, 33, 1}, false, true, false},
		{"bfloat16xfloat8_e4m3fn:float32:per_block32+dynamic_token_block+e8m0", problem.Sizes{40, 200, 33, 1}, false, true, false},
		{"mxfp8xmxfp4:float32", problem.Sizes{40, 200, 34, 1}, true, true, false},
		{"mxfp8xmxfp4:float32", problem.Sizes{40, 200, 34, 1}, false, false, false},
		{"mxfp8xmxfp4:float32", problem.Sizes{40, 200, 33, 1}, true, false, false}, // rows of b begin inside a byte
		{"mxfp8:float32", problem.Sizes{40, 256, 33, 1}, false, true, false},
		{"mxfp4:float32", problem.Sizes{40, 202, 33, 1}, false, true, true},
		{"mxfp4:float32", problem.Sizes{40, 202, 34, 2}, true, true, true},
		{"mxfp4:float32", problem.Sizes{16, 202, 34, 1}, true, true, false}, // one reader: along n
		{"mxfp4:float32", problem.Sizes{16, 202, 34, 1}, false, false, false},
		{"mxfp4:float32", problem.Sizes{40, 201, 34, 1}, true, false, false}, // rows of a begin inside a byte
		{"nvfp4:float32", problem.Sizes{40, 218, 34, 1}, true, true, true},
		{"nvfp4:float32", problem.Sizes{16, 218, 34, 1}, true, false, false},
		{"mxint8:float32", problem.Sizes{40, 200, 32, 1}, true, false, false},
	} {
		t.Run(fmt.Sprint(test.dtype, test.size, test.mixed), func(t *testing.T) {
			asked, err := problem.MatmulFamily.Parse(test.dtype)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.MakeMatmul(test.size, asked)
			programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 16, K: 64, N: 16})
			if err != nil {
				t.Fatal(err)
			}
			target := triton.ScaledTarget(test.mixed)
			params := backend.Params{}
			if test.size[1] == 256 { // in parts of k
				params = params.With("split_k", "2")
			}
			e, err := device{target: &target}.Compile(t.Context(), programs, params)
			if err != nil {
				t.Fatal(err)
			}
			launch := e.(*executable).launch
			body := launch.Kernels[len(launch.Kernels)-1].Body
			if test.size[1] == 256 {
				body = launch.Kernels[len(launch.Kernels)-2].Body
			}
			if n := strings.Count(body, "tt.dot_scaled"); (n > 0) != test.scaled || strings.Contains(body, "tt.dot ") == test.scaled || launch.Kernels[0].Turns != test.turned {
				t.Errorf("%d scaled products, turned: %t\n%s", n, launch.Kernels[0].Turns, body)
			}
			in, err := check.Inputs(t.Context(), p, programs, 5, check.Normal)
			if err != nil {
				t.Fatal(err)
			}
			res, err := check.Verify(context.Background(), p, programs, in, backendtest.Outputs(t, e, programs, in)["o"])
			if err != nil || !res.OK {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}
