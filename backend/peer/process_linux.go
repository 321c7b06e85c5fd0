package peer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"matladder/backend"
	"matladder/internal/lastline"
)

// Available returns why peers cannot run on this system, or nil.
func Available() error { return nil }

// process is the C program with one library. It is stopped except while it is
// asked something.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	words lastline.Writer
	ended bool
}

// start starts the program, which then says what it has.
func start(o Options) (*process, error) {
	p := &process{cmd: exec.Command(o.Program, o.Library.kind, o.Library.Path, strconv.Itoa(o.Threads))}
	p.cmd.Env = append(p.cmd.Environ(), o.Library.environment(o.Threads)...)
	p.cmd.Stderr = &p.words
	p.cmd.WaitDelay = time.Second // something it started may keep its output open
	// In a group of its own, Ctrl-C is for the parent to handle; and should the
	// parent be killed, the system ends the group although it is stopped.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("peer: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<16)
	return p, nil
}

// greeting waits until the library is loaded and returns what it has.
func (p *process) greeting(ctx context.Context) (string, error) {
	return p.answer(ctx, "loading the library", "ready", nil, nil)
}

// ask makes a request, with arrays behind it, and returns what the answer says
// beside ok; into receives the array behind that, if it is not nil.
func (p *process) ask(ctx context.Context, request string, arrays [][]byte, into []byte) (string, error) {
	word, _, _ := strings.Cut(request, " ")
	return p.answer(ctx, word, "ok", func() error {
		if _, err := io.WriteString(p.in, request+"\n"); err != nil {
			return err
		}
		for _, a := range arrays {
			if _, err := p.in.Write(a); err != nil {
				return err
			}
		}
		return nil
	}, into)
}

// answer sends a request and waits for an answer that begins with word. A process
// that is gone, makes no sense, or is not done when ctx ends is ended.
func (p *process) answer(ctx context.Context, what, word string, send func() error, into []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if p.ended {
		return "", &backend.CrashError{What: what, Reason: "the process has ended"}
	}
	p.signal(syscall.SIGCONT)
	stop := context.AfterFunc(ctx, func() { p.signal(syscall.SIGKILL) })
	line, err := func() (string, error) {
		if send != nil {
			if err := send(); err != nil {
				return "", err
			}
		}
		line, err := p.out.ReadString('\n')
		if err == nil && into != nil && strings.TrimSpace(line) == "ok" {
			_, err = io.ReadFull(p.out, into)
		}
		return strings.TrimSuffix(line, "\n"), err
	}()
	killed := !stop()
	first, rest, _ := strings.Cut(line, " ")
	switch {
	case killed:
		p.end()
		return "", fmt.Errorf("%s did not end in time, and the process was ended: %w", what, context.Cause(ctx))
	case err != nil:
		return "", p.crashed(what)
	case first == word:
		p.signal(syscall.SIGSTOP)
		return rest, nil
	case first == "unsupported":
		p.end()
		return "", fmt.Errorf("%s: %w", rest, backend.ErrUnsupported)
	case first == "failed":
		p.end()
		return "", fmt.Errorf("%s: %s", what, rest)
	}
	p.end()
	return "", &backend.CrashError{What: what, Reason: fmt.Sprintf("the process answers %.80q", line)}
}

// crashed is the error of a process that went away by itself.
func (p *process) crashed(what string) error {
	p.end()
	reason := p.cmd.ProcessState.String()
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		reason = fmt.Sprintf("signal %d (%s)", s.Signal(), s.Signal())
	}
	if words := p.words.Lines(3); words != "" {
		reason += ": " + words
	}
	return &backend.CrashError{What: what, Reason: reason}
}

// exitTime is how long a process that lost its input may take to end by itself: one
// that dies of a signal must not be killed by another before it is asked why.
const exitTime = 200 * time.Millisecond

// end ends the process and waits for it.
func (p *process) end() {
	if p.ended {
		return
	}
	p.ended = true
	p.in.Close()
	p.signal(syscall.SIGCONT)
	timer := time.AfterFunc(exitTime, func() { p.signal(syscall.SIGKILL) })
	defer timer.Stop()
	p.cmd.Wait()
}

func (p *process) signal(s syscall.Signal) { syscall.Kill(-p.cmd.Process.Pid, s) }
