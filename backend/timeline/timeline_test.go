package timeline

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
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
	if line.Count(Step) != 1 || line.End() != 1000 {
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
