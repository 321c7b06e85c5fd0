package plugins

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/internal/thoroughtest"
	"matladder/plugins/plugintest"
)

// wheelOf is a wheel of any kind of plugin, with its library at the place
// where that plugin has it.
func wheelOf(p Plugin, library []byte) []byte {
	return plugintest.Wheel(map[string][]byte{p.Library(): library})
}

// pinned is an installer of a plugin whose table holds the SHA-256 of the good wheels
// that the index offers, for the names that the table has.
func pinned(t *testing.T, p Plugin, offer func(x *plugintest.Index, w Wheel, name string, good []byte)) (*installer, *bool) {
	t.Helper()
	index, in := fresh(t)
	in.Name, in.Version, in.Unpinned = p.Name, p.Wheels[0].Version, false
	in.plugin = p
	in.plugin.Wheels = slices.Clone(p.Wheels)
	for k := range in.plugin.Wheels {
		w := &in.plugin.Wheels[k]
		names := w.names(w.Version, linux)
		if len(names) != 1 {
			t.Fatalf("%s %s has %d files for %s", w.Project, w.Version, len(names), linux)
		}
		content := plugintest.Wheel(map[string][]byte{w.Project + "/LICENSE": nil})
		if k == 0 {
			content = wheelOf(p, library)
		}
		w.SHA256 = maps.Clone(w.SHA256)
		w.SHA256[names[0]] = sumOf(content)
		offer(index, *w, names[0], content)
	}
	loaded := false
	in.Check = func(context.Context, string) (string, error) { loaded = true; return "0.97", nil }
	return in, &loaded
}

// TestPins: of each wheel of each plugin nothing but the file that the table knows is
// taken, whatever else an index offers under its version, and nothing is loaded before.
func TestPins(t *testing.T) {
	bad, run := plugintest.Library(linux.Arch, plugintest.Crash), thoroughtest.Choose(1, 3, 3)
	for _, p := range Known {
		evil := wheelOf(p, bad)
		for k, attacked := range p.Wheels {
			genuine := attacked.names(attacked.Version, linux)[0]
			stem, tags, _ := strings.Cut(genuine, "-"+attacked.Version+"-")
			others := []string{
				stem + "-" + attacked.Version + "-1-" + tags,
				stem + "-" + attacked.Version + "-py3-none-manylinux_2_17_x86_64.whl",
				stem + "-" + attacked.Version + "-cp39-cp39-linux_x86_64.whl",
				strings.ToUpper(stem) + "-" + attacked.Version + "-" + tags,
				"other-" + attacked.Version + "-" + tags,
			}
			cases := map[string]struct {
				offer func(x *plugintest.Index, good []byte)
				want  string // "" if it installs
			}{
				"as it is": {func(x *plugintest.Index, good []byte) { x.Add(attacked.Project, genuine, good) }, ""},
				"without sum": {func(x *plugintest.Index, good []byte) {
					x.Add(attacked.Project, genuine, good)
					x.Fail(plugintest.Faults{Sums: map[string]string{genuine: ""}})
				}, ""},
				"others ahead": {func(x *plugintest.Index, good []byte) {
					for _, o := range others {
						x.Add(attacked.Project, o, evil)
					}
					x.Add(attacked.Project, genuine, good)
				}, ""},
				"others alone": {func(x *plugintest.Index, good []byte) {
					for _, o := range others {
						x.Add(attacked.Project, o, evil)
					}
				}, "the index does not offer " + genuine},
				"another content": {func(x *plugintest.Index, good []byte) { x.Add(attacked.Project, genuine, evil) },
					"another " + genuine + " than the one known here"},
				"a sum that lies": {func(x *plugintest.Index, good []byte) {
					x.Add(attacked.Project, genuine, evil)
					x.Fail(plugintest.Faults{Sums: map[string]string{genuine: sumOf(good)}})
				}, "the one known here is "},
				"no sum, another content": {func(x *plugintest.Index, good []byte) {
					x.Add(attacked.Project, genuine, evil)
					x.Fail(plugintest.Faults{HTML: true, Sums: map[string]string{genuine: ""}})
				}, "the one known here is "},
			}
			for _, name := range slices.Sorted(maps.Keys(cases)) {
				if !run() {
					continue
				}
				c := cases[name]
				in, loaded := pinned(t, p, func(x *plugintest.Index, w Wheel, file string, good []byte) {
					if w.Project == attacked.Project {
						c.offer(x, good)
					} else {
						x.Add(w.Project, file, good)
					}
				})
				i, err := in.run(context.Background())
				switch {
				case c.want == "" && (err != nil || !*loaded || i.Unpinned || i.Wheels[k].File != genuine):
					t.Errorf("%s, %s, %s: %v, loaded %t, %+v", p.Name, attacked.Project, name, err, *loaded, i.Wheels)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || *loaded):
					t.Errorf("%s, %s, %s: %v, loaded %t; want %q", p.Name, attacked.Project, name, err, *loaded, c.want)
				}
				if c.want != "" {
					checkFolder(t, in)
				}
			}
		}
	}
}

// TestPins_Unpinned: what the table does not know needs the word, is told, and is
// remembered as such.
func TestPins_Unpinned(t *testing.T) {
	cpu, _ := Lookup("cpu")
	other := "xla_cpu_pjrt-" + cpu.Wheels[0].Version + "-1-py3-none-manylinux_2_27_x86_64.whl"
	offer := func(x *plugintest.Index, w Wheel, _ string, good []byte) { x.Add(w.Project, other, good) }
	in, _ := pinned(t, cpu, offer)
	t.Setenv(FolderVariable, in.Folder)
	if _, err := in.run(context.Background()); err == nil || !strings.Contains(err.Error(), other+", of which no SHA-256 is known here") {
		t.Fatalf("%v", err)
	}
	var notices []string
	in.Unpinned, in.Notice = true, func(s string) { notices = append(notices, s) }
	i, err := in.run(context.Background())
	if err != nil || !i.Unpinned || len(notices) != 1 || !strings.Contains(notices[0], other+" is not pinned: only the index ") {
		t.Fatalf("%v, unpinned %t, notices %q", err, i.Unpinned, notices)
	}
	if found, err := Find("cpu"); err != nil || !found.Unpinned {
		t.Errorf("found %+v, %v", found, err)
	}
	// Without the word the same version is not that one.
	in.Unpinned = false
	if _, err := in.run(context.Background()); err == nil {
		t.Error("what was installed as unpinned passes for pinned")
	}
	// Nor does a manifest that has lost the word, as one of an older program.
	i.Unpinned = false
	if err := writeManifest(i); err != nil {
		t.Fatal(err)
	}
	if _, err := Find("cpu"); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("Find of files that nobody knows: %v", err)
	}
	// A sum becomes part of a path: one that is none is refused.
	index, in := fresh(t)
	index.Fail(announce("../../../evil"))
	mustFail(t, in, "gives no SHA-256 for "+cpuFile)
	if _, err := newInstaller(Options{Name: "cpu", Version: "0.0.2", Folder: t.TempDir(), Platform: linux}); err == nil || !strings.Contains(err.Error(), "--unpinned") {
		t.Errorf("a version that is not known: %v", err)
	}
}

// TestVerify: what was changed after it was installed shows, even at the same size.
func TestVerify(t *testing.T) {
	_, in := fresh(t)
	i := mustRun(t, in)
	if err := i.Verify(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(i.Library(), flip(slices.Clone(library)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := i.Verify(); err == nil || !strings.Contains(err.Error(), "xla_cpu_pjrt.so is not what was installed") {
		t.Errorf("a changed library: %v", err)
	}
}

// TestInstall_Endless: an index that sends headers and then nothing, or more than it
// announced, or without end, is left, and nothing of it is kept.
func TestInstall_Endless(t *testing.T) {
	whole := len(cpuWheel(library))
	for name, c := range map[string]struct {
		faults plugintest.Faults
		want   string
	}{
		"size too small":   {plugintest.Faults{Sizes: map[string]int{cpuFile: whole - 1}}, "the server has " + strconv.Itoa(whole) + " bytes of it, the index says " + strconv.Itoa(whole-1)},
		"size too large":   {plugintest.Faults{Sizes: map[string]int{cpuFile: whole + 1}}, "the index says " + strconv.Itoa(whole+1)},
		"size beyond all":  {plugintest.Faults{Sizes: map[string]int{cpuFile: 1 << 50}}, "over the limit"},
		"more than its":    {plugintest.Faults{Unsized: 1 << 20}, "the server sends more than its " + strconv.Itoa(whole) + " bytes"},
		"more, and no end": {plugintest.Faults{Unsized: 1 << 26}, "the server sends more than its "},
	} {
		index, in := fresh(t)
		index.Fail(c.faults)
		mustFail(t, in, c.want)
		if rest, _ := filepath.Glob(filepath.Join(in.partial(), "*")); len(rest) > 0 {
			if info, err := os.Stat(rest[0]); err != nil || info.Size() > 0 {
				t.Errorf("%s: %v is left", name, rest)
			}
		}
	}
	silent := make(chan struct{})
	defer close(silent) // before the indexes close, which wait for what they serve
	index, in := fresh(t)
	in.page = 50 * time.Millisecond
	index.Fail(plugintest.Faults{Silent: silent})
	mustFail(t, in, "has not sent its page of xla-cpu-pjrt within 50ms")
	index, in = fresh(t)
	in.stall = 20 * time.Millisecond
	index.Fail(plugintest.Faults{CutAfter: 50, Wait: silent})
	mustFail(t, in, "next to nothing came for 20ms")
}
