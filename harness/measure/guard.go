package measure

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"matladder/backend"
	"matladder/internal/deadline"
)

// PanicError is a panic inside what Guard called.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Guard calls f and turns a panic into a *PanicError.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return f()
}

// Limits bound what a backend is asked.
type Limits struct {
	Timeout time.Duration // of a compilation, and of the launches of one call

	// Within is deadline.WithTimeout if nil. Tests stop the process.
	Within func(context.Context, time.Duration) (deadline.Context, context.CancelFunc)
}

func (l Limits) within(ctx context.Context) (deadline.Context, context.CancelFunc) {
	if l.Within != nil {
		return l.Within(ctx, l.Timeout)
	}
	return deadline.WithTimeout(ctx, l.Timeout)
}

// Call calls f, which what names in errors, within the time limit; what runs past it is an error
// that wraps context.DeadlineExceeded. paused is how long this process stood still meanwhile.
func (l Limits) Call(ctx context.Context, what string, f func(context.Context) error) (paused time.Duration, err error) {
	limited, cancel := l.within(ctx)
	defer cancel()
	err = Guard(func() error { return f(limited) })
	if err != nil && context.Cause(limited) == context.DeadlineExceeded {
		err = fmt.Errorf("%s took longer than %s: %w", what, l.Timeout, context.DeadlineExceeded)
	}
	return limited.Paused(), err
}

// mostPauses bounds how often launches are repeated.
const mostPauses = 4

// Launch runs a number of launches, and once more if this process stood still
// meanwhile: then the time is that of whoever stopped it.
func (l Limits) Launch(ctx context.Context, exe backend.Executable, launches int) (s backend.Sample, err error) {
	for range mostPauses {
		paused, err := l.Call(ctx, fmt.Sprintf("%d launches", launches), func(ctx context.Context) (err error) {
			s, err = exe.Run(ctx, launches)
			return err
		})
		if err != nil || paused == 0 {
			return s, err
		}
	}
	return s, nil
}
