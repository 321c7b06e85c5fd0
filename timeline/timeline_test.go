package timeline

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// some has two tracks, a step with what is inside, and names that JSON and XML must quote.
func some() *Timeline {
	t := &Timeline{Title: `v3 <a&b> "1"`, Source: "measured", Tracks: []string{"worker 0", "worker 1"}, Spans: []Span{
		{1, "wait for others", Wait, 0, 900 * time.Nanosecond, nil},
		{0, "pack a", Pack, 100 * time.Nanosecond, 300 * time.Nanosecond, nil},
		{0, "step", Step, 50 * time.Nanosecond, 1000 * time.Nanosecond, []Arg{{"bytes loaded", 64}, {"i", 0}}},
		{0, "multiply a·b", Multiply, 300 * time.Nanosecond, 800 * time.Nanosecond, nil},
	}}
	t.Sort()
	return t
}

func TestBusy(t *testing.T) {
	line := some()
	for kind, want := range map[Kind]time.Duration{Step: 250, Pack: 200, Multiply: 500, Wait: 900} {
		if have := line.Busy(kind); have != want {
			t.Errorf("%s: have %v, want %v", kind, have, want)
		}
	}
	if line.Total("bytes loaded") != 64 || line.Count(Step) != 1 || line.End() != 1000 {
		t.Error("totals")
	}
}

func TestChrome(t *testing.T) {
	var b bytes.Buffer
	if err := Chrome(&b, some(), some()); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []event `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	spans := 0
	for _, e := range file.TraceEvents {
		if e.Phase == "X" {
			spans++
			if e.Name == "multiply a·b" && (e.Micros != 0.3 || *e.Duration != 0.5 || e.Thread != 1) {
				t.Errorf("%+v", e)
			}
		}
	}
	if spans != 8 {
		t.Errorf("%d spans", spans)
	}
	bad := some()
	bad.Spans[0].Track = 7
	if Chrome(io.Discard, bad) == nil {
		t.Error("a span of no track was written")
	}
}

// TestPerfetto has Perfetto's own trace processor read a trace, where it is installed:
// pip install perfetto, which fetches the program behind it when it is first used.
func TestPerfetto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	var b bytes.Buffer
	if err := Chrome(&b, some()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	const program = `import sys
from perfetto.trace_processor import TraceProcessor
p = TraceProcessor(trace=sys.argv[1])
for r in p.query("select s.name as name, s.ts as ts, s.dur as dur, s.depth as depth, t.name as thread from slice s join thread_track k on s.track_id = k.id join thread t using (utid) order by s.ts, s.depth"):
    print(r.name, r.ts, r.dur, r.depth, r.thread, sep="|")
`
	out, err := exec.Command("python3", "-c", program, file).CombinedOutput()
	if err != nil {
		t.Skipf("Perfetto's trace processor cannot be used here (pip install perfetto; it fetches its program): %v", lastLine(out, err))
	}
	const want = "wait for others|0|900|0|worker 1\nstep|50|950|0|worker 0\npack a|100|200|1|worker 0\nmultiply a·b|300|500|1|worker 0\n"
	if have := string(out); have != want {
		t.Errorf("have\n%swant\n%s", have, want)
	}
}

func lastLine(out []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1] + " " + err.Error()
}

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, some(), &Timeline{Title: "nothing", Tracks: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(&b)
	rects := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "rect" {
			rects++
		}
	}
	if want := 1 + 4 + 4; rects != want { // ground, legend, spans
		t.Errorf("%d rectangles, want %d", rects, want)
	}
}
