package plugin

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
	"matladder/internal/goldentest"
	"matladder/plugins"
	"matladder/plugins/plugintest"
	"matladder/plugins/probe"
)

// asProgram makes the test's own executable be the program.
const asProgram = "PLUGIN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	probe.Child()
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		cli.Main("plugin", Run)
	}
	os.Exit(m.Run())
}

// isolate gives the test a folder for plugins and an index of its own.
func isolate(t *testing.T) (folder string, index *plugintest.Index) {
	t.Helper()
	for _, v := range []string{"HTTP_PROXY", "http_proxy", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
		t.Setenv(v, "")
	}
	folder = filepath.Join(t.TempDir(), "plugins")
	index = plugintest.NewIndex(t)
	t.Setenv(plugins.FolderVariable, folder)
	t.Setenv(plugins.IndexVariable, index.SimpleURL())
	return folder, index
}

// plugin runs the program and returns its exit status and both outputs.
func plugin(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// onLinux skips where no plugin can be loaded.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("plugins load on Linux alone")
	}
}

func offer(index *plugintest.Index, version string, b plugintest.Behaviour) {
	index.Add("xla-cpu-pjrt", plugintest.CPUWheel(version, runtime.GOARCH),
		plugintest.Wheel(map[string][]byte{plugintest.LibraryPath: plugintest.Library(runtime.GOARCH, b)}))
}

func TestInstallListDoctor(t *testing.T) {
	onLinux(t)
	folder, index := isolate(t)
	offer(index, "0.0.9", plugintest.Healthy)
	library := filepath.Join(folder, "cpu-0.0.9", filepath.FromSlash(plugintest.LibraryPath))

	code, stdout, stderr := plugin("install", "cpu", "--unpinned", "--version", "0.0.9")
	if code != cli.OK || stdout != "cpu 0.0.9: "+library+"\n" || !strings.Contains(stderr, " is not pinned: only the index ") || !strings.Contains(stderr, "[1/1] "+plugintest.CPUWheel("0.0.9", runtime.GOARCH)+", 0.0 MB\n") {
		t.Fatalf("install: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, _ = plugin("list")
	if want := regexp.MustCompile(`cpu +0\.0\.9 +linux/` + runtime.GOARCH + ` +0\.97 +` + regexp.QuoteMeta(library) + `  \(unpinned\)`); code != cli.OK || !want.MatchString(stdout) {
		t.Errorf("list: exit %d\n%s", code, stdout)
	}
	code, stdout, _ = plugin("doctor", "cpu")
	if strings.Contains(stdout, "tpu") || !strings.HasPrefix(stdout, "cpu 0.0.9\n  files    unpinned") {
		t.Errorf("doctor cpu:\n%s", stdout)
	}
	code, stdout, _ = plugin("doctor")
	for _, want := range []string{"loads    yes: PJRT API 0.97 (40 bytes)", "client   no: its table of functions has no number 3", "install tpu"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("doctor does not say %q:\n%s", want, stdout)
		}
	}
	if code != cli.Failed {
		t.Errorf("doctor of a plugin without a client exits %d", code)
	}

	os.Truncate(library, 7)
	if code, stdout, _ = plugin("doctor"); code != cli.Failed || !strings.Contains(stdout, "has 7 bytes instead of") {
		t.Errorf("doctor of a damaged plugin: exit %d\n%s", code, stdout)
	}
	if _, stdout, _ = plugin("list"); !strings.Contains(stdout, "install it again") {
		t.Errorf("list of a damaged plugin:\n%s", stdout)
	}
}

// TestInstall_BadLibraries: what crashes or hangs is never put in place.
func TestInstall_BadLibraries(t *testing.T) {
	onLinux(t)
	for b, want := range map[plugintest.Behaviour]string{
		plugintest.Crash:     "the library does not load: it ended the process",
		plugintest.Nothing:   "GetPjrtApi returns nothing",
		plugintest.NoEntry:   "no PJRT plugin",
		plugintest.BadHeader: "no table of functions",
	} {
		folder, index := isolate(t)
		offer(index, "0.0.9", b)
		code, stdout, stderr := plugin("install", "cpu", "--unpinned", "--version", "0.0.9")
		last := stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:]
		if code != cli.Failed || stdout != "" || !strings.HasPrefix(last, "plugin: install cpu 0.0.9: ") || !strings.Contains(last, want) {
			t.Errorf("behaviour %d: exit %d, stdout %q, stderr %q", b, code, stdout, stderr)
		}
		if all, err := plugins.List(folder); err != nil || len(all) > 0 {
			t.Errorf("behaviour %d was installed: %v, %v", b, all, err)
		}
	}
}

func TestDoctor_Libraries(t *testing.T) {
	onLinux(t)
	isolate(t)
	dir := t.TempDir()
	for name, b := range map[string]plugintest.Behaviour{"crash.so": plugintest.Crash, "hang.so": plugintest.Hang} {
		if err := os.WriteFile(filepath.Join(dir, name), plugintest.Library(runtime.GOARCH, b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, _ := plugin("doctor", "--timeout", "500ms", filepath.Join(dir, "crash.so"), filepath.Join(dir, "hang.so"), dir)
	for _, want := range []string{"loads    no: it ended the process", "loads    no: no answer within 500ms", "library  not a file"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("doctor does not say %q:\n%s", want, stdout)
		}
	}
	if code != cli.Failed {
		t.Errorf("exit %d", code)
	}
}

// TestMistakes has one line for each: what was typed, and what is said.
func TestMistakes(t *testing.T) {
	isolate(t)
	var got strings.Builder
	for _, line := range []string{
		"", "remove cpu", "list all", "list --long", "install", "install cpu tpu", "install gpu", "install cpu --versions 1",
		"install cpu --version ../x", "install cpu --unpinned --version 9.9", "install cpu --version 9.9", "install cpu --index-url pypi.org", "install cpu --index-url http://user:password@",
		"doctor --timeout soon", "doctor --timeout 0s", "doctor /no/such/library.so", "doctor tpu",
	} {
		code, stdout, stderr := plugin(strings.Fields(line)...)
		said := strings.ReplaceAll(stdout+stderr, os.Getenv(plugins.IndexVariable), "INDEX")
		got.WriteString("$ plugin " + line + "\n" + said + "exit " + string(rune('0'+code)) + "\n\n")
	}
	goldentest.Assert(t, "testdata/mistakes.txt", []byte(got.String()))
}

// TestHelp: help that was asked for is what the command puts out.
func TestHelp(t *testing.T) {
	for _, line := range []string{"help", "--help", "-h", "list --help", "install --help", "doctor -h"} {
		if code, stdout, stderr := plugin(strings.Fields(line)...); code != cli.OK || !strings.HasPrefix(stdout, "Plugin installs PJRT plugins") || stderr != "" {
			t.Errorf("plugin %s: exit %d, %q, %q", line, code, stdout, stderr)
		}
	}
}

func TestInterrupt(t *testing.T) {
	_, index := isolate(t)
	offer(index, "0.0.9", plugintest.Healthy)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stderr bytes.Buffer
	if code := Run(ctx, []string{"install", "cpu", "--unpinned", "--version", "0.0.9"}, io.Discard, &stderr); code != cli.Interrupted || !strings.Contains(stderr.String(), "goes on") {
		t.Errorf("exit %d, stderr %q", code, stderr.String())
	}
}

// program is the program as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// TestKill: a process killed in the middle of a download leaves nothing but that
// download, and the next one goes on with it.
func TestKill(t *testing.T) {
	onLinux(t)
	folder, index := isolate(t)
	offer(index, "0.0.9", plugintest.Healthy)
	wait := make(chan struct{})
	index.Fail(plugintest.Faults{CutAfter: 200, Wait: wait})
	var wake sync.Once
	t.Cleanup(func() { wake.Do(func() { close(wait) }) })
	cmd := program(t, "install", "cpu", "--unpinned", "--version", "0.0.9")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	partial := func() int64 {
		files, _ := filepath.Glob(filepath.Join(folder, ".partial", "*.whl"))
		if len(files) != 1 {
			return 0
		}
		info, err := os.Stat(files[0])
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for end := time.Now().Add(20 * time.Second); partial() < 200 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if n := partial(); n != 200 {
		t.Fatalf("%d bytes were left of the download", n)
	}
	if all, err := plugins.List(folder); err != nil || len(all) > 0 {
		t.Fatalf("after a kill there is %v, %v", all, err)
	}
	wake.Do(func() { close(wait) })
	index.Fail(plugintest.Faults{})
	code, _, stderr := plugin("install", "cpu", "--unpinned", "--version", "0.0.9")
	requests := index.Requests()
	if code != cli.OK || !strings.HasSuffix(requests[len(requests)-1], "bytes=200-") {
		t.Errorf("exit %d, stderr %q, last request %q", code, stderr, requests[len(requests)-1])
	}
}

// TestProxy: the address of the index does not exist but for the proxy.
func TestProxy(t *testing.T) {
	onLinux(t)
	_, index := isolate(t)
	offer(index, "0.0.9", plugintest.Healthy)
	cmd := program(t, "install", "cpu", "--unpinned", "--version", "0.0.9", "--index-url", "http://index.invalid/simple")
	cmd.Env = append(cmd.Env, "HTTP_PROXY="+index.URL, "http_proxy="+index.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestDoc runs each example of the documentation.
func TestDoc(t *testing.T) {
	isolate(t)
	os.Unsetenv(plugins.IndexVariable)
	list := clitest.Examples(t, "plugin", 4)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("go.mod", []byte("module none\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if runtime.GOOS != "linux" && e.Args[0] == "doctor" {
			continue
		}
		_, stdout, stderr := plugin(e.Args...)
		e.Check(t, stdout+stderr)
	}
}
