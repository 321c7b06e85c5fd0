// Package childlog keeps what a child process prints, so much as says why it died: the
// beginning and the end.
package childlog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// How much is kept of the beginning and of the end, in bytes, and of a line that is told.
const (
	keptFirst = 1 << 14
	keptLast  = 1 << 16
	keptLine  = 500
)

// Writer takes what a process prints. The zero Writer is ready; several goroutines may use it.
type Writer struct {
	mu         sync.Mutex
	begin, end []byte
}

// Write takes everything and keeps the beginning and the end.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := min(len(p), keptFirst-len(w.begin))
	w.begin = append(w.begin, p[:first]...)
	w.end = append(w.end, p[first:]...)
	w.end = slices.Delete(w.end, 0, max(0, len(w.end)-keptLast))
	return len(p), nil
}

// Reset forgets what was printed.
func (w *Writer) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin, w.end = w.begin[:0], w.end[:0]
}

// fatal is the line in which a process says why it ends, where a trace follows: of a
// library such as libtpu, of the Go runtime, of a signal.
var fatal = regexp.MustCompile(`(?m)^(F\d{4} [\d:.]+ +\d+ \S+\]|SIG[A-Z0-9]+:|fatal error:|panic:) .*$`)

// Line returns the last line that is not empty, without what follows the reason for the
// end: registers and a trace.
func (w *Writer) Line() string { return w.Lines(1) }

// Lines returns up to so many lines that end with Line, joined by semicolons.
func (w *Writer) Lines(most int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.ToValidUTF8(string(w.begin)+string(w.end), "")
	if all := fatal.FindAllStringIndex(text, -1); all != nil {
		text = text[:all[len(all)-1][1]]
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.ToValidUTF8(line[:min(len(line), keptLine)], ""))
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}

// First is the first line of what a program or a loader said, without space around it.
func First(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
