package probe_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"matladder/plugins/plugintest"
	"matladder/plugins/probe"
)

func TestMain(m *testing.M) {
	probe.Child()
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := probe.Run(context.Background(), "plugin.so", probe.Options{})
		if err == nil || !strings.Contains(err.Error(), "Linux") {
			t.Fatalf("elsewhere than on Linux Run says %v", err)
		}
		return
	}
	for _, c := range []struct {
		name      string
		behaviour plugintest.Behaviour
		client    bool
		limit     time.Duration
		step      probe.Step
		problem   string // "" for none
	}{
		{"healthy", plugintest.Healthy, false, 0, probe.Header, ""},
		{"no client", plugintest.Healthy, true, 0, probe.Client, "its table of functions has no number 3"},
		{"crash", plugintest.Crash, false, 0, probe.Header, "it ended the process while asking for its functions"},
		{"hang", plugintest.Hang, false, 300 * time.Millisecond, probe.Header, "no answer within 300ms while asking for its functions"},
		{"nothing", plugintest.Nothing, false, 0, probe.Header, "GetPjrtApi returns nothing"},
		{"no entry", plugintest.NoEntry, false, 0, probe.Load, "it does not export GetPjrtApi"},
		{"bad header", plugintest.BadHeader, false, 0, probe.Header, "returns no table of functions (its size would be 1099511627776)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin.so")
			if err := os.WriteFile(path, plugintest.Library(runtime.GOARCH, c.behaviour), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := probe.Run(context.Background(), path, probe.Options{Client: c.client, Limit: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			if r.Step != c.step || (r.Problem == "") != (c.problem == "") || !strings.Contains(r.Problem, c.problem) || strings.Contains(r.Problem, "\n") {
				t.Fatalf("step %q, problem %q; want step %q, problem %q", r.Step, r.Problem, c.step, c.problem)
			}
			if c.behaviour == plugintest.Healthy {
				if want := fmt.Sprintf("%d.%d", plugintest.Major, plugintest.Minor); r.API != want {
					t.Errorf("API version %q, want %q", r.API, want)
				}
			}
		})
	}
	t.Run("no library", func(t *testing.T) {
		r, err := probe.Run(context.Background(), "/etc/hostname", probe.Options{})
		if err != nil || r.Step != probe.Load || r.Problem == "" {
			t.Fatalf("got %+v, %v", r, err)
		}
	})
}

func TestRun_Context(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("plugins load on Linux alone")
	}
	path := filepath.Join(t.TempDir(), "plugin.so")
	if err := os.WriteFile(path, plugintest.Library(runtime.GOARCH, plugintest.Hang), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := probe.Run(ctx, path, probe.Options{}); err != context.Canceled {
		t.Fatalf("got error %v", err)
	}
}
