package exec

import (
	"fmt"
	"runtime"
)

// CheckPin reports why so many threads cannot be bound to processors; nil if they can.
func CheckPin(threads int) error {
	cpus, err := Processors()
	switch {
	case err != nil:
		return fmt.Errorf("cpu: pin: %w", err)
	case len(cpus) < threads:
		return fmt.Errorf("cpu: pin: %d threads cannot have cores of their own: this process may use %d", threads, len(cpus))
	}
	return nil
}

// pin binds the members of the pool to processors of their own, if that was asked for, and
// returns what frees the thread of the caller, who is a member. Those of the others end with
// their goroutines.
func (e *Executable) pin() (free func(), err error) {
	if !e.Pinned {
		return func() {}, nil
	}
	cpus, err := Processors()
	if err != nil {
		return nil, err
	}
	if !e.onCores {
		failed := make([]error, e.Pool.Size)
		err := e.Pool.Run(func(member int) {
			if member > 0 {
				runtime.LockOSThread()
				failed[member] = bindThread(cpus[member%len(cpus)])
			}
		})
		for _, f := range failed {
			if err == nil {
				err = f
			}
		}
		if err != nil {
			return nil, err
		}
		e.onCores = true
	}
	runtime.LockOSThread()
	if err := bindThread(cpus[0]); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		if freeThread(cpus) == nil { // one that stays bound ends with its goroutine
			runtime.UnlockOSThread()
		}
	}, nil
}
