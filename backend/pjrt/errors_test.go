package pjrt

import (
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/chips"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text        string
		tooBig      int64 // bytes asked for; 0 for another error
		unsupported bool
	}{
		{"failed to compile: PJRT error (code=8): Out of memory while trying to allocate 17179869184 bytes.", 17179869184, false},
		{"PJRT error (code=12): not implemented\non this device", 0, true},
		{"PJRT error (code=13): Mosaic failed: E2001: unsupported op", 0, true},
		{"PJRT error (code=13): internal", 0, false},
		{"something of the binding's own", 0, false},
	} {
		err := wrap("compile xla", errors.New(test.text))
		var big *backend.TooBigError
		if errors.As(err, &big) != (test.tooBig > 0) || big != nil && big.Need != test.tooBig {
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

func TestDescribe(t *testing.T) {
	for version, key := range map[string]string{
		"PJRT C API\nTFRT TPU v4\nBuilt on Nov 1 2025":        "tpu_v4",
		"PJRT C API\nTFRT TPU v5 lite\nBuilt on Nov 1 2025":   "tpu_v5e",
		"PJRT C API\nTFRT TPU v5p\nBuilt on Nov 1 2025":       "tpu_v5p",
		"PJRT C API\nTFRT TPU v6 lite\nBuilt on Nov 1 2025":   "tpu_v6e",
		"PJRT C API\nTFRT TPU v99 heavy\nBuilt on Jan 2 2099": "tpu_v99",
		"TFRT TPU7x": "tpu_v7x",
		"":           "unknown_tpu",
	} {
		d := describe("tpu", chipName("tpu", version, "TPU_0(process=0,(0,0,0,0))"))
		if d.Key != key || d.Kind != chips.TPU {
			t.Errorf("%q is %s, a %s", version, d.Key, d.Kind)
		}
	}
}
