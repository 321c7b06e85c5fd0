// Package configs holds the sweeps that come with matladder, as data: each is a YAML file of the
// form that package harness reads, embedded so that a built binary has them in any folder. Folder
// tuned has the block shapes that were tuned for a machine, in the form of package tuned.
package configs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.yaml tuned
var files embed.FS

// Names lists the sweeps, without .yaml.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names
}

// Read returns the text of the sweep called name, and the name of its file for messages.
func Read(name string) (text []byte, file string, err error) {
	file = name + ".yaml"
	if text, err = files.ReadFile(file); err != nil {
		return nil, "", fmt.Errorf("unknown sweep %q (known: %s, or the path of a .yaml file)", name, strings.Join(Names(), ", "))
	}
	return text, "configs/" + file, nil
}

// Tuned returns the table of block shapes that were tuned for a machine, and the
// name of its file for messages; ok is false if there is none.
func Tuned(machine string) (text []byte, file string, ok bool) {
	file = "tuned/" + machine + ".yaml"
	text, err := files.ReadFile(file)
	return text, "configs/" + file, err == nil
}
