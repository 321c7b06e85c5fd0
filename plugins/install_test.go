package plugins

import (
	"context"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"matladder/plugins/plugintest"
)

// linux is the platform that tests install for, whatever they run on.
var linux = Platform{"linux", "amd64"}

const version = "0.0.9" // not the pinned one, whose SHA-256 no test can meet

var (
	library = plugintest.Library(linux.Arch, plugintest.Healthy)
	cpuFile = plugintest.CPUWheel(version, linux.Arch)
)

// cpuWheel has more than a plugin needs.
func cpuWheel(library []byte) []byte {
	return plugintest.Wheel(map[string][]byte{
		plugintest.LibraryPath:                             library,
		"xla_plugins/xla_cpu_pjrt/__init__.py":             []byte("pass\n"),
		"xla_cpu_pjrt-0.0.9.dist-info/METADATA":            []byte("Name: xla-cpu-pjrt\n"),
		"xla_cpu_pjrt-0.0.9.dist-info/licenses/LICENSE":    []byte("Apache\n"),
		"xla_plugins/xla_cpu_pjrt/THIRD_PARTY_NOTICES.txt": []byte("others\n"),
	})
}

// fresh is an installer of the CPU plugin from an index that has it, into an
// empty folder, that does not wait between attempts.
func fresh(t *testing.T) (*plugintest.Index, *installer) {
	t.Helper()
	for _, v := range append([]string{IndexVariable, FolderVariable, "HTTP_PROXY", "http_proxy"}, certificateVariables...) {
		t.Setenv(v, "")
	}
	index := plugintest.NewIndex(t)
	index.Add("xla-cpu-pjrt", cpuFile, cpuWheel(library))
	in, err := newInstaller(Options{Name: "cpu", Version: version, Unpinned: true, IndexURL: index.SimpleURL(), Folder: filepath.Join(t.TempDir(), "plugins"), Platform: linux})
	if err != nil {
		t.Fatal(err)
	}
	in.pause = time.Millisecond
	return index, in
}

// mustRun installs and checks that the plugin, and nothing else, is there.
func mustRun(t *testing.T, in *installer) Installed {
	t.Helper()
	i, err := in.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(i.Library())
	if err != nil || string(got) != string(library) {
		t.Fatalf("the library is not what was in the wheel (%v)", err)
	}
	if err := i.Damage(); err != nil {
		t.Error(err)
	}
	checkFolder(t, in, "cpu-"+version)
	return i
}

// checkFolder fails unless the folder has these plugins and no unpacked rest.
func checkFolder(t *testing.T, in *installer, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(in.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Name() != ".partial" && e.Name() != ".lock" {
			got = append(got, e.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

// mustFail installs, and checks the message and that nothing was installed.
func mustFail(t *testing.T, in *installer, want string) {
	t.Helper()
	_, err := in.run(context.Background())
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got error %v, want one line with %q", err, want)
	}
	checkFolder(t, in)
}

func TestInstall(t *testing.T) {
	for _, html := range []bool{false, true} {
		index, in := fresh(t)
		index.Fail(plugintest.Faults{HTML: html})
		var last Progress
		in.Progress = func(p Progress) { last = p }
		var checked string
		in.Check = func(_ context.Context, path string) (string, error) { checked = path; return "0.97", nil }
		i := mustRun(t, in)
		if last.Done != last.Total || last.Total != int64(len(cpuWheel(library))) || last.File != cpuFile || last.Of != 1 {
			t.Errorf("the last progress is %+v", last)
		}
		if !strings.HasSuffix(filepath.ToSlash(checked), plugintest.LibraryPath) || i.API != "0.97" {
			t.Errorf("checked %q, API version %q", checked, i.API)
		}
		var files []string
		filepath.WalkDir(i.Root, func(_ string, d fs.DirEntry, _ error) error {
			if !d.IsDir() {
				files = append(files, d.Name())
			}
			return nil
		})
		if want := []string{manifestName, "LICENSE", "THIRD_PARTY_NOTICES.txt", "xla_cpu_pjrt.so"}; !slices.Equal(slices.Sorted(slices.Values(files)), slices.Sorted(slices.Values(want))) {
			t.Errorf("unpacked %v, want %v", files, want)
		}
		if rest, _ := os.ReadDir(in.partial()); len(rest) > 0 {
			t.Errorf("downloads are left: %v", rest)
		}

		before := len(index.Requests())
		again := mustRun(t, in)
		if len(index.Requests()) != before {
			t.Error("an installed version was asked for again")
		}
		if !again.InstalledAt.After(i.InstalledAt) {
			t.Error("an installed version does not become the current one")
		}

		os.Truncate(i.Library(), 10)
		if mustRun(t, in); len(index.Requests()) == before {
			t.Error("a damaged plugin was not repaired")
		}
	}
}

func TestInstall_Find(t *testing.T) {
	index, in := fresh(t)
	t.Setenv(FolderVariable, in.Folder)
	var missing *NotInstalledError
	if _, err := Find("cpu"); !errors.As(err, &missing) || !strings.Contains(err.Error(), "go run ./cmd/plugin install cpu") {
		t.Fatalf("before installing, Find says %v", err)
	}
	mustRun(t, in)
	newer := *in
	newer.Version = "0.1.0"
	index.Add("xla-cpu-pjrt", plugintest.CPUWheel("0.1.0", linux.Arch), cpuWheel(library))
	if _, err := newer.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if i, err := Find("cpu"); err != nil || i.Version != "0.1.0" {
		t.Fatalf("found %+v, %v; want the version installed last", i, err)
	}
	if _, err := in.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	i, err := Find("cpu")
	if err != nil || i.Version != version {
		t.Fatalf("found %+v, %v; want the version chosen last", i, err)
	}
	os.Remove(i.Library())
	if _, err := Find("cpu"); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("of a damaged plugin Find says %v", err)
	}
	if _, err := Find("gpu"); err == nil || !strings.Contains(err.Error(), "known: cpu, tpu, cuda") {
		t.Errorf("of an unknown plugin Find says %v", err)
	}
}

func TestInstall_Resume(t *testing.T) {
	index, in := fresh(t)
	index.Fail(plugintest.Faults{CutAfter: 400})
	whole := len(cpuWheel(library))
	if whole < 2*400 || whole > attempts*400 {
		t.Fatalf("the wheel has %d bytes: choose another place to cut", whole)
	}
	mustRun(t, in)
	if got := index.Requests(); !strings.HasSuffix(got[2], "bytes=400-") || !strings.HasSuffix(got[3], "bytes=800-") {
		t.Errorf("requests were %q", got)
	}

	// A second process goes on where the first stopped.
	index, in = fresh(t)
	index.Fail(plugintest.Faults{CutAfter: 100})
	mustFail(t, in, "broke off at byte 400 of "+itoa(whole))
	index.Fail(plugintest.Faults{})
	mustRun(t, in)
	if got := index.Requests(); !strings.HasSuffix(got[len(got)-1], "bytes=400-") {
		t.Errorf("the second attempt asked for %q", got[len(got)-1])
	}

	// A server that cannot continue sends all of it again.
	index, in = fresh(t)
	index.Fail(plugintest.Faults{CutAfter: 100})
	mustFail(t, in, "broke off")
	index.Fail(plugintest.Faults{NoRanges: true})
	mustRun(t, in)

	// What is left may be longer than the file, or spoiled.
	_, in = fresh(t)
	os.MkdirAll(in.partial(), 0o755)
	part := filepath.Join(in.partial(), sumOf(cpuWheel(library))+".whl")
	os.WriteFile(part, make([]byte, 1<<20), 0o644)
	mustRun(t, in)
	_, in = fresh(t)
	os.MkdirAll(in.partial(), 0o755)
	part = filepath.Join(in.partial(), sumOf(cpuWheel(library))+".whl")
	os.WriteFile(part, []byte("spoiled"), 0o644)
	mustFail(t, in, "nothing was installed")
	mustRun(t, in)
}

func TestInstall_BadInput(t *testing.T) {
	other := plugintest.Library("arm64", plugintest.Healthy)
	for name, c := range map[string]struct {
		spoil func(*plugintest.Index, *installer)
		want  string
	}{
		"wrong checksum":     {func(x *plugintest.Index, _ *installer) { x.Fail(announce(strings.Repeat("ab", 32))) }, "its SHA-256 is " + sumOf(cpuWheel(library)) + ", the index says abab"},
		"no checksum":        {func(x *plugintest.Index, _ *installer) { x.Fail(announce("")) }, "no SHA-256 for " + cpuFile},
		"truncated wheel":    {serve(cpuWheel(library)[:600]), cpuFile + " is not a wheel: zip: not a valid zip file"},
		"damaged wheel":      {serve(flip(cpuWheel(library))), "unpack"},
		"not a wheel":        {serve([]byte("<html>log in first</html>")), "is not a wheel"},
		"no library":         {serve(plugintest.Wheel(map[string][]byte{"x/LICENSE": nil})), "has no " + plugintest.LibraryPath},
		"path outside":       {serve(plugintest.Wheel(map[string][]byte{plugintest.LibraryPath: library, "../LICENSE": nil})), `"../LICENSE" lies outside the wheel`},
		"other architecture": {serve(cpuWheel(other)), "a library for EM_AARCH64, this is linux/amd64"},
		"no plugin":          {serve(cpuWheel(plugintest.Library(linux.Arch, plugintest.NoEntry))), "it does not export GetPjrtApi"},
		"cut library":        {serve(cpuWheel(library[:300])), "cut short"},
		"text as library":    {serve(cpuWheel([]byte("text"))), "not a shared library"},
		"does not load": {func(_ *plugintest.Index, in *installer) {
			in.Check = func(context.Context, string) (string, error) { return "", errors.New("it crashed") }
		}, cpuFile + ": it crashed"},
		"unknown version": {func(_ *plugintest.Index, in *installer) { in.Version = "7.0" }, "no version 7.0 of xla-cpu-pjrt (the latest are 0.0.9)"},
		"other platform":  {func(_ *plugintest.Index, in *installer) { in.Platform = Platform{"darwin", "arm64"} }, "has no wheel for darwin/arm64 (there are " + cpuFile + ")"},
		"unknown project": {func(_ *plugintest.Index, in *installer) { in.plugin.Wheels = []Wheel{{Project: "no-such"}} }, "has no project no-such"},
		"pinned otherwise": {func(_ *plugintest.Index, in *installer) {
			in.plugin.Wheels = []Wheel{{Project: "xla-cpu-pjrt", SHA256: map[string]string{cpuFile: "00"}}}
		}, "another " + cpuFile + " than the one known here"},
		"server error":   {func(x *plugintest.Index, _ *installer) { x.Fail(plugintest.Faults{Status: 503}) }, "503 Service Unavailable"},
		"refused":        {func(x *plugintest.Index, _ *installer) { x.Fail(plugintest.Faults{User: "me"}) }, "401 Unauthorized"},
		"no network":     {func(x *plugintest.Index, _ *installer) { x.Close() }, "cannot reach http://127.0.0.1:"},
		"disk too small": {func(_ *plugintest.Index, in *installer) { in.free = func(string) (int64, error) { return 100, nil } }, "no space in "},
		"disk full":      {func(_ *plugintest.Index, in *installer) { in.open = failing(in.open, 500, syscall.ENOSPC) }, "no space in "},
		"disk full later": {func(_ *plugintest.Index, in *installer) {
			in.open = failing(in.open, len(cpuWheel(library))+20, syscall.ENOSPC)
		}, "no space in "},
		"read-only disk": {func(_ *plugintest.Index, in *installer) { in.open = failing(in.open, 0, syscall.EROFS) }, "cannot write to "},
		"not an index":   {func(_ *plugintest.Index, in *installer) { in.index = in.index.JoinPath("../files/") }, "has no project"},
		"another at work": {func(_ *plugintest.Index, in *installer) {
			os.MkdirAll(in.Folder, 0o755)
			lock(filepath.Join(in.Folder, ".lock"))
		}, "another installation is at work"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(name, "disk") {
				t.Skip("the error numbers are those of unix")
			}
			index, in := fresh(t)
			c.spoil(index, in)
			mustFail(t, in, c.want)
		})
	}
}

func TestInstall_Folder(t *testing.T) {
	_, in := fresh(t)
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	in.Folder = filepath.Join(file, "plugins")
	if _, err := in.run(context.Background()); err == nil || !strings.Contains(err.Error(), "cannot write to") || !strings.Contains(err.Error(), FolderVariable) {
		t.Errorf("in a folder that cannot be: %v", err)
	}
	if os.Getuid() > 0 {
		dir := t.TempDir()
		os.Chmod(dir, 0o555)
		in.Folder = filepath.Join(dir, "plugins")
		if _, err := in.run(context.Background()); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("in a read-only folder: %v", err)
		}
	}
	if runtime.GOOS == "linux" {
		in.Folder = "/proc/matladder/plugins" // read-only for root too
		if _, err := in.run(context.Background()); err == nil || !strings.Contains(err.Error(), "cannot write to /proc/matladder/plugins") {
			t.Errorf("in /proc: %v", err)
		}
	}
}

func TestInstall_KeepsOld(t *testing.T) {
	index, in := fresh(t)
	t.Setenv(FolderVariable, in.Folder)
	mustRun(t, in)
	broken := *in
	broken.Version = "0.1.0"
	index.Add("xla-cpu-pjrt", plugintest.CPUWheel("0.1.0", linux.Arch), cpuWheel(nil))
	os.MkdirAll(filepath.Join(in.Folder, ".staging-killed", "x"), 0o755)
	if _, err := broken.run(context.Background()); err == nil {
		t.Fatal("an empty library was installed")
	}
	checkFolder(t, in, "cpu-"+version)
	if i, err := Find("cpu"); err != nil || i.Version != version {
		t.Errorf("after a failed update Find returns %+v, %v", i, err)
	}
}

func TestInstall_Interrupt(t *testing.T) {
	_, in := fresh(t)
	ctx, cancel := context.WithCancel(context.Background())
	in.Progress = func(Progress) { cancel() }
	if _, err := in.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
	checkFolder(t, in)
	in.Progress = func(Progress) {}
	mustRun(t, in)
}

func TestInstall_Certificate(t *testing.T) {
	fresh(t)
	index := plugintest.NewTLSIndex(t)
	index.Add("xla-cpu-pjrt", cpuFile, cpuWheel(library))
	install := func() error {
		in, err := newInstaller(Options{Name: "cpu", Version: version, Unpinned: true, IndexURL: index.SimpleURL(), Folder: t.TempDir(), Platform: linux})
		if err != nil {
			return err
		}
		in.pause = time.Millisecond
		_, err = in.run(context.Background())
		return err
	}
	if err := install(); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE names certificates to trust") {
		t.Errorf("without its certificate: %v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: index.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range certificateVariables {
		t.Setenv(name, file)
		if err := install(); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
		t.Setenv(name, "")
	}
	t.Setenv("PIP_CERT", cpuFile)
	if err := install(); err == nil || !strings.Contains(err.Error(), "certificates of PIP_CERT") {
		t.Errorf("with a file that is not there: %v", err)
	}
}

func TestInstall_Password(t *testing.T) {
	index, in := fresh(t)
	index.Fail(plugintest.Faults{User: "me"})
	in.index.User = url.UserPassword("me", "secret")
	for _, s := range mustRun(t, in).Wheels {
		if strings.Contains(s.URL, "secret") {
			t.Errorf("the password is in the manifest: %s", s.URL)
		}
	}
	index, in = fresh(t)
	in.index.User = url.UserPassword("me", "secret")
	index.Close()
	if _, err := in.run(context.Background()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v", err)
	}
}
