//go:build linux && amd64

package emulate

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// A thread is one thread of the program.
type thread struct {
	id    int
	tiles tiles
}

// trace runs a program to its end and returns its exit status. An error is a
// mistake of the program that the processor would refuse too.
func trace(command []string) (int, error) {
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	child := exec.Command(command[0], command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &unix.SysProcAttr{Ptrace: true}
	if err := child.Start(); err != nil {
		return 0, err
	}
	first := child.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(first, &status, 0, nil); err != nil {
		return 0, err
	}
	const follow = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(first, follow); err != nil {
		return 0, err
	}
	if err := unix.PtraceCont(first, 0); err != nil {
		return 0, err
	}
	threads, result := map[int]*thread{first: {id: first}}, 0
	for {
		id, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECHILD: // all have ended
			return result, nil
		case err != nil:
			return 0, err
		case status.Exited() || status.Signaled():
			delete(threads, id)
			if id == first {
				if result = status.ExitStatus(); status.Signaled() {
					result = 128 + int(status.Signal())
				}
			}
			continue
		case !status.Stopped():
			continue
		}
		t, known := threads[id]
		if !known {
			t = &thread{id: id}
			threads[id] = t
		}
		signal := status.StopSignal()
		switch {
		case status.TrapCause() > 0: // a new thread, or another program
			signal = 0
		case signal == unix.SIGSTOP && !known: // and its first stop
			signal = 0
		case signal == unix.SIGILL:
			done, err := t.run()
			if err != nil {
				return 0, err
			}
			if done {
				signal = 0
			}
		}
		// It fails for a thread that was killed meanwhile, whose end comes next.
		_ = unix.PtraceCont(id, int(signal))
	}
}

// run carries out the AMX instructions that the thread is at, and reports
// whether there was one.
func (t *thread) run() (bool, error) {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.id, &r); err != nil {
		return false, err
	}
	for n := 0; ; n++ {
		var code [15]byte
		read := t.read(code[:], r.Rip)
		i, ok := decode(code[:read], &r)
		if !ok {
			if n == 0 {
				return false, nil
			}
			return true, unix.PtraceSetRegs(t.id, &r)
		}
		if err := t.execute(i); err != nil {
			return false, fmt.Errorf("%s at %#x: %w", i.name, r.Rip, err)
		}
		r.Rip += uint64(i.length)
	}
}

// read fills b with memory of the program, as far as there is some.
func (t *thread) read(b []byte, at uint64) int {
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(t.id, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err == nil && n == len(b) {
		return n
	}
	// A page nobody may read begins within b.
	const page = 4096
	if whole := int(page - at%page); whole < len(b) {
		return t.read(b[:whole], at)
	}
	return 0
}
