// Package lastline keeps the end of what a child process prints: the lines in which a
// process that dies mostly says why.
package lastline

import (
	"regexp"
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

// fatal is the line in which a library such as libtpu says why it ends the process; a
// trace follows.
var fatal = regexp.MustCompile(`(?m)^F\d{4} [\d:.]+ +\d+ \S+\] .*$`)

// Line returns the last line that is not empty, without what follows the reason for the
// end: registers and a trace of the Go runtime, the trace behind a line marked as fatal.
func (w *Writer) Line() string { return w.Lines(1) }

// Lines returns up to so many lines that end with Line, joined by semicolons.
func (w *Writer) Lines(most int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, _, _ := strings.Cut(strings.ToValidUTF8(string(w.end), ""), "\nPC=")
	if all := fatal.FindAllStringIndex(text, -1); all != nil {
		text = text[:all[len(all)-1][1]]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "; ")
}
