// Package lastline keeps the end of what a child process prints: the line in which a
// process that dies mostly says why.
package lastline

import (
	"bytes"
	"strings"
	"sync"
)

// kept is how much of the end is kept, in bytes.
const kept = 1 << 16

// Writer takes what a process prints. The zero Writer is ready; several goroutines may
// use it.
type Writer struct {
	mu  sync.Mutex
	end []byte
}

// Write takes everything and keeps the end.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = append(w.end, p...)
	w.end = w.end[max(0, len(w.end)-kept):]
	return len(p), nil
}

// Line returns the last line that is not empty, without what the Go runtime adds to a
// signal: registers and a trace.
func (w *Writer) Line() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, _, _ := bytes.Cut(w.end, []byte("\nPC="))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
