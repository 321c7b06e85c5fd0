package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"

	"matladder/results/bundle"
)

// What is read is what was written, or an error says what is not.
func ExampleRead() {
	folder, _ := os.MkdirTemp("", "bundle")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "run.zip")
	if err := bundle.Write(path, map[string][]byte{bundle.Rows: []byte("schema\n1\n")}); err != nil {
		fmt.Println(err)
	}
	content, err := bundle.Read(path)
	fmt.Printf("%q %v\n", content[bundle.Rows], err)
	// Output:
	// "schema\n1\n" <nil>
}
