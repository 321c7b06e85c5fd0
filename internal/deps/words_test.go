package deps

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// retired are words and sentences that are not used any more, in names, comments, messages
// and docs, with what is written instead. Each begins with letters that are always the same:
// those are found fast.
var retired = []struct{ old, say string }{
	{`package (analyze|chips|own|peer|madeup)\b`, "the package's name in the layout of docs/architecture.md"},
	{`backend/(own|peer|aot|pjrt|builtin|stage)\b`, "the folder's place in the layout of docs/architecture.md"},
	{`kernels/blocking\b`, "the folder's place in the layout of docs/architecture.md"},
	{`internal/(pallasref|jaxcheck|gpubars|trust|faulttest|fakegpu|madeup|cc)\b`, "the folder's place in the layout of docs/architecture.md"},
	{`PUs? that (is|are|was|were) not there`, "predicted for a TPU; a simulated GPU"},
	{`chips? that (is|are|was|were) not there`, "predicted for a TPU; a simulated GPU"},
	{` [Bb] that few rows of [Aa] meet`, "B, when A has few rows"},
	{`timed behind as many`, "preceded by as many untimed warm-ups"},
	{`speed is told in what`, "each family declares its metric"},
	{`is the time of its roof`, "the filled part is the roofline minimum"},
	{`model had not met`, "held-out measurements"},
	{`sits later ones out`, "a point that converges early skips later rounds"},
	{`laid out for it once`, "packed beforehand"},
	{`on nobody's word`, "checksums not verified"},
	{`to agree with others on who`, "is cheaper than synchronizing"},
	{`not to be looked at`, "a trace is limited to"},
	{`point no evidence`, "invalidates all rows of its point"},
	{`InMain\b`, "HBM"},
	{`Overhang(s|Info)?\b`, "PartialTiles"},
	{`\bracers?\b`, "trial"},
	{`Rough\b`, "LowConfidence"},
	{`Guarded\(`, "Predicated"},
	{`Staged\(`, "Pipelined"},
	{`tile\.Tell\b`, "tile.Signal"},
	{`hlo\.Near\b`, "hlo.Resident"},
	{`machine\.Sharing\b`, "machine.CoreToCore"},
	{`gemm\.Path\b`, "gemm.MicroKernels"},
	{`registry\.Meaning\b`, "registry.Interpreted"},
	{`internal/(awake|lastline|ownprocess)\b`, "internal/deadline, childlog, subprocesstest"},
	{`Asker\b`, "VMEMRequester"},
	{`Meeting\b`, "core-to-core latency"},
	{`owsApart\b`, "RowStrided"},
}

// TestWords looks for retired words in all text of the project.
func TestWords(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "-z", "*.go", "*.md", "*.yaml", "*.tmpl", "*.sh", "*.py", ".ci").Output()
	if err != nil {
		t.Skip("git does not list the files of this folder:", err)
	}
	patterns := make([]*regexp.Regexp, len(retired))
	for i, r := range retired {
		patterns[i] = regexp.MustCompile(r.old)
	}
	files := strings.Split(strings.TrimRight(string(list), "\x00"), "\x00")
	if len(files) < 500 {
		t.Fatal(len(files), "files")
	}
	for _, f := range files {
		if f == "internal/deps/words_test.go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(f)))
		if err != nil {
			continue // removed in the work tree
		}
		for i, p := range patterns {
			for _, at := range p.FindAllIndex(text, -1) {
				t.Errorf("%s:%d: %q: write: %s", f, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]], retired[i].say)
			}
		}
	}
}

// TestLayout: every folder that the layout of docs/architecture.md names is there, and every folder of
// the root that has packages is named.
func TestLayout(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layout, found := strings.Cut(string(page), "\n## Layout\n")
	if !found {
		t.Fatal("docs/architecture.md has no layout")
	}
	layout, _, _ = strings.Cut(layout, "\n## ")
	named := map[string]bool{}
	for row := range strings.Lines(layout) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			top, _, _ := strings.Cut(m[1], "/")
			named[top] = true
			if info, err := os.Stat("../../" + m[1]); err != nil || !info.IsDir() {
				t.Errorf("the layout names %s: %v", m[1], err)
			}
		}
	}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		source, _ := filepath.Glob("../../" + e.Name() + "/*/*.go")
		if e.IsDir() && len(source) > 0 && !named[e.Name()] {
			t.Errorf("the layout does not name %s", e.Name())
		}
	}
}
