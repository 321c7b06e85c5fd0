package worker

import (
	"strings"
	"sync"
)

// tail keeps what a worker printed during its current call, up to a limit: the
// beginning, since a crash says what happened before it says where.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 16 << 10

// Write takes everything and keeps what fits.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[:min(len(p), tailBytes-len(t.text))]...)
	return len(p), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = t.text[:0]
}

// lastWords are up to three lines that say why a process died: the last ones
// before the stack trace, or else the last.
func (t *tail) lastWords() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(t.text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines = append(lines, line)
		if strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "panic:") {
			break
		}
	}
	const most, width = 3, 300
	lines = lines[max(0, len(lines)-most):]
	for i, l := range lines {
		lines[i] = strings.ToValidUTF8(l[:min(len(l), width)], "")
	}
	return strings.Join(lines, "; ")
}
