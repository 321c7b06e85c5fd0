package plugins_test

import (
	"errors"
	"fmt"
	"os"

	"matladder/plugins"
)

// A plugin by its name; of one that is not installed, how to have it.
func ExampleFind() {
	p, err := plugins.Lookup("tpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Title, "is", p.Library())

	empty, err := os.MkdirTemp("", "plugins")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(empty)
	before, was := os.LookupEnv(plugins.FolderVariable)
	os.Setenv(plugins.FolderVariable, empty)
	defer func() {
		if os.Unsetenv(plugins.FolderVariable); was {
			os.Setenv(plugins.FolderVariable, before)
		}
	}()
	_, err = plugins.Find("cpu")
	var missing *plugins.NotInstalledError
	fmt.Println(errors.As(err, &missing))
	// Output:
	// XLA on a TPU (libtpu) is libtpu/libtpu.so
	// true
}
