// Package bundle keeps what belongs to one execution in one file: a zip archive of files with
// a manifest of their hashes. A bundle is whole or not there at all. What it holds is its
// users' (cmd/bench writes it, cmd/compare verifies it). The hashes find damage and careless
// changes; they do not say who made a bundle.
package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"matladder/internal/files"
)

// Names of files in a bundle.
const (
	manifestName = "manifest.json"
	Rows         = "rows.csv"        // the results file
	Sweep        = "sweep.json"      // flags, and the sweep that they name
	Figures      = "figures.csv"     // of each point, as stats.WriteTable makes them of the rows
	Environment  = "environment.txt" // the program, the machine and its probes
	Programs     = "programs/"       // of the point on a line of Figures: its number with an ending
)

const format = "matladder bundle 1"

// Limits of what Read takes in: of the archive, and of what is in it.
const (
	mostBytes = 64 << 20
	mostInAll = 512 << 20
)

type manifest struct {
	Format string
	SHA256 map[string]string // by name
}

// Write makes the file of a bundle.
func Write(path string, content map[string][]byte) error {
	m := manifest{format, map[string]string{}}
	for name, data := range content {
		m.SHA256[name] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	add := func(name string, data []byte) error {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	err = add(manifestName, text)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		err = errors.Join(err, add(name, content[name]))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return files.Write(path, archive.Bytes())
}

// Read returns the files of a bundle, all of which have the hashes of its manifest. An error
// names the bundle and what is wrong with it.
func Read(path string) (map[string][]byte, error) {
	data, err := files.ReadRegular(path, mostBytes)
	if err != nil {
		return nil, err
	}
	content, err := read(data, mostInAll)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}

// read takes in files of so many bytes in all.
func read(data []byte, most int64) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("not a whole bundle: %w", err)
	}
	content := map[string][]byte{}
	left := most
	for _, f := range z.File {
		if !fs.ValidPath(f.Name) || !f.Mode().IsRegular() || content[f.Name] != nil {
			return nil, fmt.Errorf("%.60q is not a file that a bundle has, or is there twice", f.Name)
		}
		in, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		text, err := io.ReadAll(io.LimitReader(in, left+1))
		in.Close()
		if left -= int64(len(text)); left < 0 {
			return nil, fmt.Errorf("its files have more than %d MiB", most>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		content[f.Name] = append([]byte{}, text...)
	}
	var m manifest
	if err := json.Unmarshal(content[manifestName], &m); err != nil {
		return nil, fmt.Errorf("no bundle: its %s: %w", manifestName, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("format %.60q, want %q", m.Format, format)
	}
	delete(content, manifestName)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if have := fmt.Sprintf("%x", sha256.Sum256(content[name])); m.SHA256[name] != have {
			return nil, fmt.Errorf("%s was changed: its hash is not that of the manifest", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.SHA256)) {
		if _, ok := content[name]; !ok {
			return nil, fmt.Errorf("%.60q is missing", name)
		}
	}
	return content, nil
}
