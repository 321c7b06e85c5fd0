package pjrt

import (
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/machine"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text        string
		tooBig      int64 // bytes asked for; 0 for another error
		unsupported bool
	}{
		{"failed to compile: PJRT error (code=8): Out of memory while trying to allocate 17179869184 bytes.", 17179869184, false},
		{"PJRT error (code=12): not implemented\non this device", 0, true},
		{"PJRT error (code=13): internal", 0, false},
		{"something of the binding's own", 0, false},
	} {
		err := wrap("compile xla", errors.New(test.text))
		var big *backend.TooBigError
		if errors.As(err, &big) != (test.tooBig > 0) || big != nil && big.Needed != test.tooBig {
			t.Errorf("%s: %+v", test.text, big)
		}
		if errors.Is(err, backend.ErrUnsupported) != test.unsupported {
			t.Errorf("%s: %v", test.text, err)
		}
		if !strings.Contains(err.Error(), "compile xla") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", test.text, err)
		}
	}
	if wrap("anything", nil) != nil {
		t.Error("no error is an error")
	}
}

func TestWrapTPU(t *testing.T) {
	err := wrapTPU("compile v1_naive", errors.New("failed to compile the program: PJRT error (code=8): E1001: CompileTimeScopedVmemOom: Ran out of memory in memory space vmem while allocating on stack for %v1.1. Scoped allocation with size 48.82M and limit 16.00M exceeded scoped vmem limit by 32.82M."))
	var big *backend.TooBigError
	if !errors.As(err, &big) || big.What != "VMEM" || big.Limit != 16<<20 || !strings.HasPrefix(err.Error(), "pjrt: compile v1_naive: too big: needs 48.8 MiB of VMEM") {
		t.Errorf("%v", err)
	}
	if err := wrapTPU("compile v5_quant", errors.New("PJRT error (code=13): Mosaic failed to compile TPU kernel: E2001: Unsupported matmul RHS type")); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if wrapTPU("anything", nil) != nil {
		t.Error("no error is an error")
	}
}

func TestDescribe(t *testing.T) {
	for _, test := range []struct{ kind, version, key string }{
		{"TPU v4", "PJRT C API\nTFRT TPU v4\nBuilt on Nov 1 2025", "tpu_v4"},
		{"", "PJRT C API\nTFRT TPU v5 lite\nBuilt on Nov 1 2025", "tpu_v5e"},
		{"TPU v5 lite", "PJRT C API", "tpu_v5e"},
		{"TPU v5", "", "tpu_v5p"},
		{"", "PJRT C API\nTFRT TPU v5p\nBuilt on Nov 1 2025", "tpu_v5p"},
		{"TPU v6 lite", "PJRT C API\nTFRT TPU v6 lite\nBuilt on Nov 1 2025", "tpu_v6e"},
		{"TPU v99 heavy", "PJRT C API\nTFRT TPU v99 heavy\nBuilt on Jan 2 2099", "tpu_v99"},
		{"TPU7x", "", "tpu_v7x"},
		{"", "TFRT TPU7x", "tpu_v7x"},
		{"", "", "unknown_tpu"},
	} {
		d := describe("tpu", chipName("tpu", test.kind, test.version))
		if d.Key != test.key || d.Kind != machine.TPU {
			t.Errorf("%q, %q is %s, a %s", test.kind, test.version, d.Key, d.Kind)
		}
	}
	if d := describe("cuda", chipName("cuda", "NVIDIA H200", "cuda 13000")); d.Key != "nvidia_h200" {
		t.Errorf("an H200 is %s", d.Key)
	}
}
