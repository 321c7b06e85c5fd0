//go:build (linux || darwin) && (amd64 || arm64)

package dynlib

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestOpen_Reason: what is no library is refused with a reason, also while goroutines go from
// thread to thread.
func TestOpen_Reason(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(file, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 2000 {
				if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "text.so") {
					t.Errorf("error %v", err)
					return
				}
			}
		})
	}
	all.Wait()
}
