package program

import (
	"context"
	"sync"

	"matladder/backend"
)

// lazy is a backend that is opened when it is first needed.
type lazy struct {
	open func(context.Context) (backend.Backend, error)
	mu   sync.Mutex
	b    backend.Backend // once it is open
}

// get opens the backend, unless it is.
func (l *lazy) get(ctx context.Context) (backend.Backend, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b != nil {
		return l.b, nil
	}
	b, err := l.open(ctx)
	if err == nil {
		l.b = b
	}
	return b, err
}

// close closes what is open.
func (l *lazy) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b == nil {
		return nil
	}
	b := l.b
	l.b = nil
	return b.Close()
}
