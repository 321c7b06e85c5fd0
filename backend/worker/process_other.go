//go:build !unix

package worker

import (
	"errors"
	"os"
	"os/exec"
)

var errSystem = errors.New("worker: this system does not hand pipes to a child process as Unix does")

func startProcess(string, []string, *tail) (cmd *exec.Cmd, calls, replies *os.File, err error) {
	return nil, nil, nil, errSystem
}

func killProcess(cmd *exec.Cmd) { cmd.Process.Kill() }

func inherited() (calls, replies *os.File, err error) { return nil, nil, errSystem }

func ended(state *os.ProcessState) string { return state.String() }
