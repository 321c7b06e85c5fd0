//go:build !unix

package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

var errSystem = fmt.Errorf("this system does not hand pipes to a child process as Unix does: %w", errors.ErrUnsupported)

func prepare(*exec.Cmd, *os.File, *os.File) error { return errSystem }

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func stopGroup(*exec.Cmd, bool) {}

func inherited() (questions, answers *os.File, err error) { return nil, nil, errSystem }

func ended(state *os.ProcessState) string { return state.String() }
