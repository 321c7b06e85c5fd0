package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/backend/foreign/process"
	"matladder/backend/registry/builtin"
	"matladder/machine"
)

// libraries are the peers that run in processes of their own.
type libraries struct {
	found    []process.Library // those that opened, in the order of --peers
	backends []*process.Backend
	missing  []string // names
	broken   []error  // libraries that are there and do not open
}

// loadLimit bounds how long a library may take to load.
const loadLimit = time.Minute

// open looks for the libraries that f asks for and opens each to be used with a
// number of threads. Two files of the same version are one.
func open(ctx context.Context, f *flags, threads int, host machine.Device) (*libraries, error) {
	if err := process.Available(); err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no folder for the peers' program: %w: set XDG_CACHE_HOME", err)
	}
	l := &libraries{}
	seen := map[string]bool{}
	for _, name := range f.peers {
		if name == xla {
			continue
		}
		program, err := process.Program(ctx, filepath.Join(cache, "matladder", "peers"), name)
		if err != nil {
			l.close()
			return nil, err
		}
		some := process.Find(name, f.paths)
		if len(some) == 0 {
			l.missing = append(l.missing, name)
		}
		for _, library := range some {
			limited, cancel := context.WithTimeout(ctx, loadLimit)
			b, err := process.Open(limited, process.Options{Program: program, Library: library, Threads: threads, Host: host})
			cancel()
			if ctx.Err() != nil {
				l.close()
				return nil, ctx.Err()
			}
			if err != nil {
				l.broken = append(l.broken, err)
				continue
			}
			_, version := b.Plugin()
			if id := name + " " + version; seen[id] {
				b.Close()
			} else {
				seen[id] = true
				l.found, l.backends = append(l.found, library), append(l.backends, b)
			}
		}
	}
	return l, nil
}

// close ends what the libraries still have.
func (l *libraries) close() {
	for _, b := range l.backends {
		b.Close()
	}
}

// errNone says that there is nothing to compare with.
var errNone = errors.New("no peer is found; peers --list says how to install them")

// list says which peers there are.
func list(ctx context.Context, f *flags, w io.Writer) error {
	l, err := open(ctx, f, max(1, f.counts[0]), machine.Device{})
	if err != nil {
		return err
	}
	defer l.close()
	found := len(l.backends)
	for i, b := range l.backends {
		_, version := b.Plugin()
		fmt.Fprintf(w, "%-9s %-20s %s\n%-30s %s\n", b.Name(), version, l.found[i].Path, "", strings.Join(b.Products(), ", "))
	}
	for _, err := range l.broken {
		fmt.Fprintf(w, "%v\n", err)
	}
	if slices.Contains(f.peers, xla) {
		if p, err := builtin.FindPlugin("cpu"); err == nil {
			fmt.Fprintf(w, "%-9s %-20s %s\n", xla, p.Version, p.Library())
			found++
		} else {
			fmt.Fprintf(w, "%-9s not found: %v\n", xla, err)
		}
	}
	for _, name := range l.missing {
		fmt.Fprintf(w, "%-9s not found: %s\n", name, process.Install(name))
	}
	if found == 0 {
		return errNone
	}
	return nil
}
