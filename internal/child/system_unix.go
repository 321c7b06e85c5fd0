//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Descriptors of a child.
const (
	questionsFD = 3
	answersFD   = 4
)

// prepare gives a command that is to be started its descriptors and a process group.
func prepare(cmd *exec.Cmd, questions, answers *os.File) error {
	cmd.ExtraFiles = []*os.File{questions, answers}
	cmd.SysProcAttr = attributes()
	return nil
}

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// stopGroup stops a child and all that it has started, or has them go on.
func stopGroup(cmd *exec.Cmd, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	syscall.Kill(-cmd.Process.Pid, s)
}

// inherited opens the child's ends of the pipes. What the child starts does not get
// them: it would keep them open after the child's end.
func inherited() (questions, answers *os.File, err error) {
	for _, fd := range []int{questionsFD, answersFD} {
		var s syscall.Stat_t
		if err := syscall.Fstat(fd, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, fmt.Errorf("%s is set, but descriptor %d is no pipe: it is for child processes alone", variable, fd)
		}
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(questionsFD, "questions"), os.NewFile(answersFD, "answers"), nil
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
