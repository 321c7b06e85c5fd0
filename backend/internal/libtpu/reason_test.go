package libtpu

import (
	"errors"
	"strings"
	"testing"

	"matladder/backend"
)

// TestClassify reads what libtpu 0.0.42.1 and 0.0.51 said.
func TestClassify(t *testing.T) {
	for _, test := range []struct {
		message     string
		need, limit float64 // mebibytes
		unsupported bool
		reason      string
	}{
		{"E1001: CompileTimeScopedVmemOom: Ran out of memory in memory space vmem while allocating on stack for %v1.1 = f32[2048,2048]{1,0:T(8,128)} custom-call(%Arg_0.1). Scoped allocation with size 48.82M and limit 16.00M exceeded scoped vmem limit by 32.82M. It should not be possible to run out of scoped vmem.\nSee https://openxla.org", 48.82, 16, false, "exceeded scoped vmem limit by 32.82M"},
		{"E1001: Scoped allocation with size 16.06M and limit 16.00M exceeded scoped vmem limit by 64.0K.", 16.06, 16, false, "by 64.0K"},
		{"XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 193.82M of 128.00M vmem. Exceeded vmem capacity by 65.82M.\n\nProgram vmem requirement 193.82M:\n    scoped", 193.82, 128, false, "Ran out of memory in memory space vmem. Used 193.82M of 128.00M vmem. Exceeded vmem capacity by 65.82M."},
		{"E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (28.00G) exceeds available HBM (15.75G). HLO module: xla.", 28 << 10, 15.75 * 1024, false, "E1000: CompileTimeHbmOom"},
		{"Allocation (size=67108864) would exceed memory (size=16777216) :: #allocation", 64, 16, false, "Allocation"},
		{"Mosaic failed to compile TPU kernel: E2001: CompileTimeMosaicUnsupportedRhsType: Unsupported matmul RHS type on target: vector<128x128xi8>\nSee https://openxla.org/xla/errors/error_2001 for more details.\n\nat location: loc(\"-\":19:11)", 0, 0, true, "E2001: CompileTimeMosaicUnsupportedRhsType: Unsupported matmul RHS type on target: vector<128x128xi8>"},
		{"Mosaic failed to compile TPU kernel: E2002: CompileTimeMosaicMisalignedBlockAndTiling: Operand of shape (1000, 1000) has tiling (8, 128), but its block shape (100, 100) is not divisible by tiling evenly nor matches the full shape", 0, 0, true, "block shape (100, 100)"},
		{"Mosaic failed to compile TPU kernel with MLIR module name `<no name>` HLO name `int4_weights.2`: E2003: CompileTimeMosaicUnprovenMemoryAccessAlignment: cannot statically prove that index in dimension 1 is a multiple of 128", 0, 0, true, "unsupported: libtpu: E2003"},
		{"Mosaic failed to compile TPU kernel: Bad lhs type", 0, 0, true, "Bad lhs type"},
		{"Failed to parse the Mosaic module: -:3:7: error: expected SSA operand", 0, 0, false, "-:3:7: error"},
	} {
		err := Classify(13, test.message)
		var big *backend.TooBigError
		var wrong *CompileError
		switch {
		case test.need > 0:
			if !errors.As(err, &big) || big.Needed != int64(test.need*(1<<20)) || big.Limit != int64(test.limit*(1<<20)) {
				t.Errorf("%v, want %v of %v MiB", err, test.need, test.limit)
			}
		case test.unsupported:
			if !errors.Is(err, backend.ErrUnsupported) {
				t.Errorf("%v, want unsupported", err)
			}
		case !errors.As(err, &wrong) || wrong.Code != 13:
			t.Errorf("%v, want a CompileError", err)
		}
		if s := err.Error(); !strings.Contains(s, test.reason) || strings.ContainsAny(s, "\n") || strings.Contains(s, "https") {
			t.Errorf("%q does not say %q in one line", s, test.reason)
		}
	}
}
