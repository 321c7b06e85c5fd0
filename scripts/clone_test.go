//go:build unix

package scripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bash is the shell under test: $MATLADDER_BASH, else the one on the path.
func bash(t testing.TB) string {
	t.Helper()
	name := os.Getenv("MATLADDER_BASH")
	if name == "" {
		name = "bash"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (apt-get install bash)", name)
	}
	return path
}

// clone is a clone of the project with these scripts and little else, and the
// stand-ins.
type clone struct {
	t    *testing.T
	dir  string
	env  []string
	bash string
}

// template makes the folder that every clone is a copy of.
var template = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "matladder-scripts")
	if err != nil {
		return "", err
	}
	for _, step := range [][]string{
		{"cp", "-R", ".", filepath.Join(dir, "scripts")},
		{"git", "init", "-q", dir},
		{"git", "-C", dir, "add", "."},
		{"git", "-C", dir, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"},
	} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", errors.New(strings.Join(step, " ") + ": " + string(out))
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	// A signal that this process ignores, as under nohup, the scripts could not
	// trap; one with a handler here is a default one in them.
	signal.Notify(make(chan os.Signal, 8), syscall.SIGHUP, syscall.SIGQUIT)
	flag.Parse()
	flag.Set("test.parallel", "8") // the cases wait more than they compute
	status := m.Run()
	if dir, err := template(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// need skips a test of a script whose tools are not on this machine: they come with
// every system that the scripts are for.
func need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (apt-get install coreutils mawk util-linux)", tool)
		}
	}
}

func newClone(t *testing.T) *clone {
	t.Helper()
	need(t, "awk", "id", "paste", "tar")
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{t: t, dir: t.TempDir(), bash: bash(t)}
	if err := os.CopyFS(c.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(c.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"gcloud", "sky", "rsync"} {
		if err := os.Symlink(filepath.Join(c.dir, "scripts/testdata/standin"), filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(c.bash, filepath.Join(bin, "bash")); err != nil {
		t.Fatal(err)
	}
	c.write("results.tgz", results(t))
	c.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "STANDIN="+c.dir, "TMPDIR="+c.dir,
		"MATLADDER_OWNER=Ann.Example", "MATLADDER_POLL=0.05", "MATLADDER_PAUSE=0", "MATLADDER_TRIES=2",
		"MATLADDER_DELETE=0", "MATLADDER_LIMIT=60", "MATLADDER_TRANSFER=60")
	return c
}

// results is what scripts/remote pack makes.
func results(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{"./bench.csv": "schema,kernel\n1,v1_naive\n", "./bench.log": "measured\n", "./machine.txt": "Linux\n"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(text)
}

// calls are the commands that were run, in order, and their steps.
func (c *clone) calls() (steps, commands []string) {
	for line := range strings.Lines(c.read("calls")) {
		step, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		steps, commands = append(steps, step), append(commands, command)
	}
	return steps, commands
}

// misbehave is what the stand-ins do wrong: at a step, one of the ways of
// testdata/standin. With sig, the script gets that signal while the step hangs.
type misbehave struct {
	at, do string
	sig    syscall.Signal
	limits []string // shorter limits
}

// run runs a script of the clone and returns its exit status, and what it printed
// on stdout and in all.
func (c *clone) run(m misbehave, script string, args ...string) (status int, stdout, all string) {
	c.t.Helper()
	cmd := exec.Command(c.bash, append([]string{filepath.Join(c.dir, "scripts", script)}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(append(c.env, "STANDIN_AT="+m.at, "STANDIN_DO="+m.do), m.limits...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, both bytes.Buffer
	var lock sync.Mutex
	cmd.Stdout = writer(func(p []byte) { lock.Lock(); out.Write(p); both.Write(p); lock.Unlock() })
	cmd.Stderr = writer(func(p []byte) { lock.Lock(); both.Write(p); lock.Unlock() })
	cmd.WaitDelay = 5 * time.Second // a process that outlives the script is an error, not a hang
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	stuck := time.AfterFunc(150*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stuck.Stop()
	if m.sig != 0 {
		c.awaitHang()
		// A terminal signals its foreground group, which the script leads;
		// termination goes to the script alone.
		target := -cmd.Process.Pid
		if m.sig == syscall.SIGTERM {
			target = cmd.Process.Pid
		}
		if err := syscall.Kill(target, m.sig); err != nil {
			c.t.Fatal(err)
		}
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	if !stuck.Stop() {
		c.t.Errorf("%s did not end", script)
	}
	c.noneLeft()
	lock.Lock()
	defer lock.Unlock()
	return cmd.ProcessState.ExitCode(), out.String(), both.String()
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// awaitHang waits until a stand-in hangs.
func (c *clone) awaitHang() {
	c.t.Helper()
	for range 12_000 {
		if strings.HasSuffix(c.read("hung"), "\n") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatal("the step was not reached")
}

// noneLeft checks that no stand-in that hung outlives the script by more than it takes the
// system to end what was killed.
func (c *clone) noneLeft() {
	c.t.Helper()
	for line := range strings.Lines(c.read("hung")) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			c.t.Fatal(err)
		}
		for range 1000 {
			if !runs(pid) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if runs(pid) {
			c.t.Errorf("process %d of a step is still there", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// runs reports whether there is such a process; one that has ended and that its parent has
// not asked for yet does not run.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no Linux, or it is gone by now, which the next look tells
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
