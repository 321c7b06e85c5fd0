//go:build unix

package worker

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Descriptors of a worker.
const (
	callsFD   = 3
	repliesFD = 4
)

// startProcess starts this executable as a worker. The parent's ends of the two
// pipes are returned; output is where descriptors 1 and 2 go.
func startProcess(name string, env []string, output *tail) (cmd *exec.Cmd, calls, replies *os.File, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("worker: %w", err)
	}
	callsEnd, calls, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("worker: %w", err)
	}
	replies, repliesEnd, err := os.Pipe()
	if err != nil {
		callsEnd.Close()
		calls.Close()
		return nil, nil, nil, fmt.Errorf("worker: %w", err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(append(os.Environ(), env...), variable+"="+name)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second // something it started may keep its output open
	cmd.ExtraFiles = []*os.File{callsEnd, repliesEnd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	callsEnd.Close()
	repliesEnd.Close()
	if err != nil {
		calls.Close()
		replies.Close()
		return nil, nil, nil, fmt.Errorf("worker: %w", err)
	}
	return cmd, calls, replies, nil
}

// killProcess ends a worker and all that it has started.
func killProcess(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// inherited opens the worker's ends of the pipes. What the worker starts does
// not get them: it would keep them open after the worker's end.
func inherited() (calls, replies *os.File, err error) {
	for _, fd := range []int{callsFD, repliesFD} {
		var s syscall.Stat_t
		if err := syscall.Fstat(fd, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, fmt.Errorf("%s is set, but descriptor %d is no pipe: it is for workers alone", variable, fd)
		}
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(callsFD, "calls"), os.NewFile(repliesFD, "replies"), nil
}

// ended says how a process ended.
func ended(state *os.ProcessState) string {
	s, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && s.Signaled() && s.Signal() == syscall.SIGKILL:
		return "killed by signal 9, as the system does when memory runs out"
	case ok && s.Signaled():
		return fmt.Sprintf("killed by signal %d (%s)", s.Signal(), s.Signal())
	}
	return state.String()
}
