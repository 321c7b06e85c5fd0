package peer

import (
	"strings"
	"sync"
)

// lastWords keep the end of what a process prints.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

const (
	wordsBytes = 4 << 10
	wordsLines = 3
)

// Write takes everything and keeps the last of it.
func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	w.text = w.text[max(0, len(w.text)-wordsBytes):]
	return len(b), nil
}

// String is the last lines, joined.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(w.text), "")), "\n")
	return strings.Join(lines[max(0, len(lines)-wordsLines):], "; ")
}
