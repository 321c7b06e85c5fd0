package asmgen

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gemm is the folder that files are written to.
var gemm = filepath.FromSlash("../../backend/cpu/internal/gemm")

var generate = flag.Bool("generate", false, "write the assembly files")

func TestFiles(t *testing.T) {
	files := Files()
	for name, want := range files {
		path := filepath.Join(gemm, name)
		if *generate {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what asmgen writes (go test -generate writes it):\n%s", name, cmp.Diff(string(got), string(want)))
		}
	}
	err := filepath.WalkDir(filepath.Join(gemm, ".."), func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".s" {
			return err
		}
		name, err := filepath.Rel(gemm, path)
		if _, ok := files[filepath.ToSlash(name)]; err != nil || ok {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("// By hand: ")) {
			t.Errorf("%s has no generator and does not say why (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
