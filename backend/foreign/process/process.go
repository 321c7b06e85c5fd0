package process

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/internal/child"
)

// Available returns why peers cannot run on this system, or nil.
func Available() error {
	if runtime.GOOS != "linux" {
		return errors.New("peers run on Linux alone")
	}
	return nil
}

// process is the C program with one library, or the Python program with one file. It is stopped except
// while it is asked something.
type process struct{ *child.Process }

// start starts the program.
func start(o Options) (process, error) {
	if err := Available(); err != nil {
		return process{}, err
	}
	program, args := o.Program, []string{o.Library.kind, o.Library.Path, strconv.Itoa(o.Threads)}
	if python := o.Library.python; python != "" {
		program, args = python, []string{"-c", runner, strconv.Itoa(o.Threads)}
	}
	p, err := child.Start(child.Options{Program: program, Args: args, Env: o.Library.environment(o.Threads), Rest: true})
	if err != nil {
		return process{}, fmt.Errorf("peer: %w", err)
	}
	return process{p}, nil
}

// ask makes a request, with arrays behind it, and returns what the answer says
// beside ok; into receives the arrays behind that.
func (p process) ask(ctx context.Context, request string, arrays, into [][]byte) (string, error) {
	word, _, _ := strings.Cut(request, " ")
	return p.answer(ctx, word, "ok", request, arrays, into)
}

// answer makes a request and waits for an answer that begins with word. A process that
// is gone, makes no sense, or is not done when ctx ends is ended.
func (p process) answer(ctx context.Context, what, word, request string, arrays, into [][]byte) (string, error) {
	line, err := p.AskText(ctx, what, request, arrays, into)
	if crash, ok := errors.AsType[*child.CrashError](err); ok {
		return "", (*backend.CrashError)(crash)
	}
	first, rest, _ := strings.Cut(line, " ")
	switch {
	case err != nil && !errors.Is(err, child.ErrNoArrays):
		return "", err
	case err == nil && first == word:
		return rest, nil
	}
	p.end()
	switch first {
	case "unsupported":
		return "", fmt.Errorf("%s: %w", rest, backend.ErrUnsupported)
	case "failed":
		return "", fmt.Errorf("%s: %s", what, rest)
	}
	return "", &backend.CrashError{What: what, Reason: fmt.Sprintf("the process answers %.80q", line)}
}

// end ends the process and waits for it.
func (p process) end() { p.Close(200 * time.Millisecond) }
