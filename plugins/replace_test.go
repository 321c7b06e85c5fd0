package plugins

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestInstall_Replaces: while a damaged plugin is replaced, again and again, its manifest is
// there at any time.
func TestInstall_Replaces(t *testing.T) {
	_, in := fresh(t)
	i := mustRun(t, in)
	manifest := filepath.Join(i.Root, manifestName)
	stop, gone := make(chan struct{}), 0
	var looking sync.WaitGroup
	looking.Add(1)
	go func() {
		defer looking.Done()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := os.Lstat(manifest); err != nil {
				gone++
			}
		}
	}()
	for range 20 {
		if err := os.WriteFile(i.Library(), []byte("damaged"), 0o644); err != nil {
			t.Fatal(err)
		}
		mustRun(t, in)
	}
	close(stop)
	looking.Wait()
	if gone > 0 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
		t.Errorf("the plugin was not there %d times", gone)
	}
}

// TestRestoreReplaced: what made way is put back unless something has its place.
func TestRestoreReplaced(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "x"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(replaced+"cpu-1", "old")
	put(replaced+"tpu-1", "old")
	put("tpu-1", "new")
	restoreReplaced(folder)
	for name, want := range map[string]string{"cpu-1": "old", "tpu-1": "new"} {
		if got, err := os.ReadFile(filepath.Join(folder, name, "x")); string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if list, _ := os.ReadDir(folder); len(list) != 2 {
		t.Errorf("%d folders are left", len(list))
	}
}
