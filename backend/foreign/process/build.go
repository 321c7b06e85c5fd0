package process

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"matladder/internal/childlog"
)

//go:embed source
var source embed.FS

// ErrNoCompiler means that the C program cannot be built here.
var ErrNoCompiler = errors.New("no C compiler: the peers' program is C and is built where it runs; install one (apt-get install gcc libc6-dev) or name it in CC")

// Program returns the path of what asks the library of a name: the C program, built below
// folder, or nothing where that is the runner of Python files.
func Program(ctx context.Context, folder, name string) (string, error) {
	if lookUp(name).kind == kindTorch {
		return "", nil
	}
	return Build(ctx, folder)
}

// Build compiles the C program unless that was done before, and returns its path
// below folder. The compiler is that of CC, or else cc, gcc or clang.
func Build(ctx context.Context, folder string) (string, error) {
	compiler, err := compiler()
	if err != nil {
		return "", err
	}
	files, err := fs.Sub(source, "source")
	if err != nil {
		return "", fmt.Errorf("peer: %w", err)
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return "", fmt.Errorf("peer: %w", err)
	}
	args, text := []string{"-O2", "-o", "peer"}, compiler+"\n"
	for _, e := range entries {
		content, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return "", fmt.Errorf("peer: %w", err)
		}
		text += e.Name() + "\n" + string(content)
		if filepath.Ext(e.Name()) == ".c" {
			args = append(args, e.Name())
		}
	}
	sum := sha256.Sum256([]byte(text))
	program := filepath.Join(folder, fmt.Sprintf("peer-%x", sum[:8]))
	if exists(program) {
		return program, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", noFolder(err)
	}
	work, err := os.MkdirTemp(folder, "build-")
	if err != nil {
		return "", noFolder(err)
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, files); err != nil {
		return "", noFolder(err)
	}
	cmd := exec.CommandContext(ctx, compiler, append(args, "-ldl")...)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		said := cmp.Or(childlog.First(string(out)), "it says nothing")
		return "", fmt.Errorf("%s does not build the peers' program: %w: %s", compiler, err, said)
	}
	// A second build at the same time leaves the same file.
	if err := os.Rename(filepath.Join(work, "peer"), program); err != nil {
		return "", noFolder(err)
	}
	return program, nil
}

// noFolder says that the program cannot be kept.
func noFolder(err error) error {
	return fmt.Errorf("no folder for the peers' program: %w (XDG_CACHE_HOME names another)", err)
}

func compiler() (string, error) {
	if cc := os.Getenv("CC"); cc != "" {
		path, err := exec.LookPath(cc)
		if err != nil {
			return "", fmt.Errorf("CC=%s: %w", cc, ErrNoCompiler)
		}
		return path, nil
	}
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(cc); err == nil {
			return path, nil
		}
	}
	return "", ErrNoCompiler
}
