package aot

import (
	"errors"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/tile/tiletest"
)

// TestPrograms compiles programs beyond the ladder, for one generation; for all
// with MATLADDER_TESTS=full.
func TestPrograms(t *testing.T) {
	c := open(t, Options{})
	cases, err := tiletest.Tiled()
	if err != nil {
		t.Fatal(err)
	}
	for n, test := range cases {
		for _, top := range Topologies() {
			if top.Name != "v5e" && !thoroughtest.Full() {
				continue
			}
			t.Run(fmt.Sprintf("%s.%d/%s", test.Name, n, top.Name), func(t *testing.T) {
				_, err := c.CompileKernels(t.Context(), top.Name, test.Programs, backend.Params{})
				narrow := test.Name == "float8" || test.Name == "dynamic_quant"
				if top.Name == "v4" && narrow && errors.Is(err, backend.ErrUnsupported) {
					return
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}
