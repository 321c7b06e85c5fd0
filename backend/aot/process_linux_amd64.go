package aot

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"matladder/internal/lastline"
)

const supported = true

// variable names the library to a child.
const variable = "MATLADDER_AOT_LIBRARY"

// child is a process with libtpu loaded, seen from its parent.
type child struct {
	cmd  *exec.Cmd
	to   *os.File // descriptor 3 there
	from *os.File // descriptor 4 there
	enc  *gob.Encoder
	dec  *gob.Decoder
	said lastline.Writer
}

func start(o Options, dump string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	defer theirs.Close()
	from, back, err := os.Pipe()
	if err != nil {
		to.Close()
		return nil, fmt.Errorf("aot: %w", err)
	}
	defer back.Close()
	c := &child{cmd: exec.Command(self), to: to, from: from, enc: gob.NewEncoder(to), dec: gob.NewDecoder(from)}
	c.cmd.Env = append(append(os.Environ(), o.maker.env(o, dump)...), variable+"="+o.Library, "GOTRACEBACK=none")
	c.cmd.Stdout, c.cmd.Stderr = &c.said, &c.said
	c.cmd.ExtraFiles = []*os.File{theirs, back}
	c.cmd.WaitDelay = time.Second
	// A group of its own: Ctrl-C is the parent's to handle.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		to.Close()
		from.Close()
		return nil, fmt.Errorf("aot: %w", err)
	}
	return c, nil
}

// ask sends a request and waits for the answer, or until ctx ends.
func (c *child) ask(ctx context.Context, r request) (answer, error) {
	stop := context.AfterFunc(ctx, func() { // ends both transfers below
		c.to.SetDeadline(time.Now())
		c.from.SetDeadline(time.Now())
	})
	defer stop()
	if err := c.enc.Encode(r); err != nil {
		return answer{}, err
	}
	var a answer
	return a, c.dec.Decode(&a)
}

// end ends the process, unless it ends by itself within the time given, and says
// how it ended and what it printed last.
func (c *child) end(grace time.Duration) string {
	c.to.Close()
	kill := time.AfterFunc(grace, func() { syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	how := "exit status 0"
	if err := c.cmd.Wait(); err != nil {
		how = err.Error()
	}
	c.from.Close()
	if last := c.said.Line(); last != "" {
		return how + "; it said last: " + last
	}
	return how
}
