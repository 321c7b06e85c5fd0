package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Children are this test's executable, told by variables what to do.
const (
	childPath  = "FILES_TEST_PATH"
	childCount = "FILES_TEST_COUNT" // times to count one up; 0 is to hold the lock for good
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		count, _ := strconv.Atoi(os.Getenv(childCount))
		if err := countUp(path, count); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// countUp adds one to the number in a file as often as is asked for.
func countUp(path string, times int) error {
	for n := 0; n < times || times == 0; n++ {
		unlock, err := Lock(context.Background(), path)
		if err != nil {
			return err
		}
		if times == 0 {
			fmt.Println("held")
			time.Sleep(time.Hour)
		}
		text, err := Read(path)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(string(text))
		if err != nil {
			return err
		}
		if err := Replace(path, []byte(strconv.Itoa(number+1))); err != nil {
			return err
		}
		unlock()
	}
	return nil
}

func child(t *testing.T, path string, times int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childPath+"="+path, childCount+"="+strconv.Itoa(times))
	c.Stderr = os.Stderr
	return c
}

// TestLock: of processes that change one file at once, none undoes what another did, by
// whatever name of the file, and no lock file stays.
func TestLock(t *testing.T) {
	const processes, times = 4, 50
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "0")
	names, beside := []string{path}, 0
	if link := filepath.Join(t.TempDir(), "link"); os.Symlink(path, link) == nil {
		names = append(names, link)
	}
	var children []*exec.Cmd
	for i := range processes {
		c := child(t, names[i%len(names)], times)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS == "windows" {
		beside = 1
	}
	holds(t, path, strconv.Itoa(processes*times), beside)
}

// TestLock_Killed: who waits can be cancelled, and has the lock when its holder is
// killed.
func TestLock_Killed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "0")
	c := child(t, path, 0)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*lockPoll)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while another process has it: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	if err := countUp(path, 1); err != nil {
		t.Error(err)
	}
	if text, err := Read(path); string(text) != "1" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestLock_Refused(t *testing.T) {
	t.Chdir(t.TempDir())
	want := "cannot write none/x: "
	if _, err := Lock(t.Context(), "none/x"); err == nil || err.Error()[:len(want)] != want {
		t.Error(err)
	}
}
