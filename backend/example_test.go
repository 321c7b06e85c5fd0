package backend_test

import (
	"errors"
	"fmt"

	"matladder/backend"
)

// Parameters are written as in a row's column, and what does not fit says by how much.
func ExampleParams() {
	extra, err := backend.ParseExtra("unroll=4 b=packed")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := backend.Params{VMEMBytes: 64 << 20, Extra: extra}
	fmt.Println(p.With("b", "direct"))

	var big *backend.TooBigError
	if err := fmt.Errorf("v1_naive: %w", &backend.TooBigError{Needed: 192 << 20, Limit: 16 << 20}); errors.As(err, &big) {
		fmt.Println(backend.FormatBytes(big.Needed), "of", backend.FormatBytes(big.Limit))
	}
	// Output:
	// b=direct unroll=4 vmem_limit=64MiB
	// 192.0 MiB of 16.0 MiB
}
