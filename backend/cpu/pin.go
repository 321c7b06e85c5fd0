package cpu

import (
	"fmt"
	"runtime"
)

// checkPin reports why so many threads cannot be bound to processors; nil if they can.
func checkPin(threads int) error {
	cpus, err := processors()
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
func (e *executable) pin() (free func(), err error) {
	if !e.pinned {
		return func() {}, nil
	}
	cpus, err := processors()
	if err != nil {
		return nil, err
	}
	if !e.onCores {
		failed := make([]error, e.pool.size)
		err := e.pool.run(func(member int) {
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
