// Silicon holds figures of this project to public measurements of real GPUs.
//
//	go run -C tools/silicon . [--wheel FILE] [--update] > docs/silicon.md
//
// It reads the matrix products of PyPI's aiconfigurator-core (Apache-2.0), splits them once by hash
// into those that model/vendor's table is made of and those that it is held to, and writes the page
// of what it found: how far interpolation is off, by GPU and shape, where collectors disagree, and
// which rows no GPU can have. --update writes the table itself, model/vendor/rates.json.gz, some of the
// rows that it is held to, and rows of Triton's kernels for package model, whose blocks are in sglang's
// wheels (PyPI, Apache-2.0).
package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/model/vendor"
)

// The wheel that figures are from. Its hash is PyPI's.
const (
	wheelName = "aiconfigurator-core"
	version   = "0.12.0"
)

func main() { cli.Main("silicon", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("silicon", silicon(ctx, args, stdout, stderr), "interrupted", stdout, stderr)
}

func silicon(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := cli.NewFlags("silicon")
	wheel := flags.String("wheel", "", "`FILE` of aiconfigurator-core; downloaded from PyPI if not given")
	update := flags.Bool("update", false, "write model/vendor/rates.json.gz, its testdata, and model/testdata/gpu_triton.csv too")
	if err := cli.Parse(flags, args, "usage: silicon [flags]"); err != nil {
		return err
	}
	path := *wheel
	if path == "" {
		var err error
		if path, err = download(ctx, wheelName, version, stderr); err != nil {
			return err
		}
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer archive.Close()
	var gpus []gpu
	for _, g := range known {
		fmt.Fprintln(stderr, g.folder, g.kind.name)
		if err := g.read(&archive.Reader); err != nil {
			return err
		}
		g.judge()
		for _, b := range gpus { // of bfloat16, which comes first: one collector alone does not tell how far others differ
			if b.device == g.device {
				g.table.Least, g.table.Most = min(g.table.Least, b.table.Least), max(g.table.Most, b.table.Most)
			}
		}
		gpus = append(gpus, g)
	}
	if *update {
		if err := write(gpus); err != nil {
			return err
		}
		if err := writeTriton(ctx, &archive.Reader, stderr); err != nil {
			return err
		}
	}
	return page(stdout, gpus)
}

// write writes the tables, and of the shapes that they are held to each hundredth.
func write(gpus []gpu) error {
	var tables []vendor.Table
	held := "device,dtype,m,k,n,seconds\n"
	for _, g := range gpus {
		tables = append(tables, g.table)
		var lines []string
		for s, t := range g.seconds[g.kind.collector] {
			if s.held(g.folder) {
				lines = append(lines, fmt.Sprintf("%s,%s,%d,%d,%d,%.4g\n", g.device, g.kind.name, s[0], s[2], s[1], t))
			}
		}
		slices.Sort(lines)
		for i := 0; i < len(lines); i += 100 {
			held += lines[i]
		}
	}
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err == nil {
		err = json.NewEncoder(w).Encode(tables)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	const folder = "../../model/vendor/"
	return errors.Join(files.Replace(folder+"rates.json.gz", buf.Bytes()), files.Replace(folder+"testdata/held_out.csv", []byte(held)))
}

// writeTriton writes the rows of Triton's kernels that package model is fitted to and held against.
func writeTriton(ctx context.Context, wheel *zip.Reader, stderr io.Writer) error {
	sglang := map[string]*zip.Reader{}
	for _, g := range tritonGPUs {
		if sglang[g.version] != nil {
			continue
		}
		path, err := download(ctx, "sglang", g.version, stderr)
		if err != nil {
			return err
		}
		archive, err := zip.OpenReader(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer archive.Close()
		sglang[g.version] = &archive.Reader
	}
	rows, err := tritonRows(wheel, sglang)
	if err != nil {
		return err
	}
	return files.Replace("../../model/testdata/gpu_triton.csv", []byte(rows))
}

// download returns the path of a wheel, which is kept in the user's cache.
func download(ctx context.Context, name, version string, stderr io.Writer) (string, error) {
	index, wheel := "https://pypi.org/simple/"+name+"/", strings.ReplaceAll(name, "-", "_")+"-"+version
	get := func(url string) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/vnd.pypi.simple.v1+json, */*;q=0.1")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s: %s", url, answer.Status)
		}
		return io.ReadAll(answer.Body)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "matladder", "silicon", wheel+".whl")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	text, err := get(index)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, version, err)
	}
	type entry struct {
		Filename, URL string
		Hashes        struct{ SHA256 string }
	}
	var about struct{ Files []entry }
	if err := json.Unmarshal(text, &about); err != nil {
		return "", fmt.Errorf("%s: %w", index, err)
	}
	at := slices.IndexFunc(about.Files, func(e entry) bool {
		return strings.HasPrefix(e.Filename, wheel+"-") && strings.HasSuffix(e.Filename, ".whl")
	})
	if at < 0 {
		return "", fmt.Errorf("%s has no wheel of %s", index, version)
	}
	file := about.Files[at]
	fmt.Fprintln(stderr, "downloading", file.URL)
	content, err := get(file.URL)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != file.Hashes.SHA256 {
		return "", fmt.Errorf("%s: its SHA-256 is not the index's", file.URL)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, files.Replace(path, content)
}
