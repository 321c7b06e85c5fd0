package harness

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu"
	"matladder/backend/foreign/library"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/internal/thoroughtest"
	"matladder/plugins"
	"matladder/results"
)

func TestMain(m *testing.M) {
	worker.Hook(map[string]worker.Opener{"broken": openBroken, library.OpenerName: library.Opener})
	os.Exit(m.Run())
}

// openBroken opens the backend of the CPU with a vice, in a worker.
func openBroken(_ context.Context, vice []byte) (backend.Backend, error) {
	be, err := cpu.Open(cpu.Options{Threads: 2, NoProbe: true})
	if err != nil {
		return nil, err
	}
	return backendtest.Broken(be, backendtest.Vices[string(vice)]), nil
}

// TestRun_Broken measures on real backends whose launches go wrong now and then: each
// must be found, and a right one must not be.
func TestRun_Broken(t *testing.T) {
	kinds := map[string]func(t *testing.T, vice string) backend.Backend{
		"cpu": func(t *testing.T, vice string) backend.Backend {
			be, err := openBroken(t.Context(), []byte(vice))
			if err != nil {
				t.Fatal(err)
			}
			return be
		},
		"worker": func(t *testing.T, vice string) backend.Backend {
			be, err := worker.Open(t.Context(), worker.Options{Opener: "broken", Config: []byte(vice)})
			if err != nil {
				t.Fatal(err)
			}
			return be
		},
		"pjrt": func(t *testing.T, vice string) backend.Backend {
			if err := pjrt.Available(); err != nil {
				t.Skip(err)
			}
			p, err := plugins.Find("cpu")
			var missing *plugins.NotInstalledError
			if errors.As(err, &missing) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			be, err := pjrt.Open(pjrt.Options{Name: "xla-cpu", Plugin: p.Library()})
			if err != nil {
				t.Fatal(err)
			}
			return backendtest.Broken(be, backendtest.Vices[vice])
		},
	}
	run := thoroughtest.Choose(1, 1, 7)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		open := kinds[kind]
		for _, vice := range slices.Sorted(maps.Keys(backendtest.Vices)) {
			if !run() {
				continue
			}
			t.Run(kind+"/"+vice, func(t *testing.T) {
				be := open(t, vice)
				defer be.Close()
				c, err := Parse("broken.yaml", []byte("sizes: [16x24x40]\ndtypes: [float32]\nkernels: [5]\nrounds: {min: 1, max: 1}\n"))
				if err != nil {
					t.Fatal(err)
				}
				s, err := Plan(t.Context(), c, be.Device(), backend.Params{})
				if err != nil {
					t.Fatal(err)
				}
				out, err := Run(t.Context(), s, Options{Backend: be, Out: filepath.Join(t.TempDir(), "rows.csv"), Provenance: Provenance{RunID: "test"}})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range out.Rows {
					if (vice == "right") != (r.Status == results.OK) {
						t.Errorf("%s: %s", r.Status, r.Reason)
					}
				}
				if len(out.Rows) == 0 {
					t.Error("no rows")
				}
			})
		}
	}
}
