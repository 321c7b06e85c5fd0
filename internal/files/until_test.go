package files

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestUntil: a reader without end ends with its context, at the next piece.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := Until(ctx, strings.NewReader("abcd"))
	if b, err := io.ReadAll(io.LimitReader(iotest.OneByteReader(r), 2)); string(b) != "ab" || err != nil {
		t.Fatalf("%q, %v", b, err)
	}
	cancel()
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
}
