package program

import (
	"os"
	"strings"
	"testing"
)

// TestParse_Cut: text that ends anywhere before its end is reported as cut; brackets in strings and comments
// are none.
func TestParse_Cut(t *testing.T) {
	content, err := os.ReadFile("testdata/matmul.mlir")
	if err != nil {
		t.Fatal(err)
	}
	text := `// a "comment (
#loc = loc("}\"{("(unknown))
` + string(content)
	if whole, err := Parse([]byte(text)); err != nil || whole != text {
		t.Error(err)
	}
	for end := strings.Index(text, "func.func") + len("func.func"); end <= strings.LastIndex(text, "}"); end++ {
		if _, err := Parse([]byte(text[:end])); err == nil || !strings.Contains(err.Error(), "it is cut short") {
			t.Errorf("cut after %q: %v", text[:end], err)
		}
	}
	at := strings.Index(text, "{\n")
	if _, err := Parse([]byte(text[:at] + text[at+1:])); err == nil || !strings.Contains(err.Error(), "it is cut short") {
		t.Errorf("without what opens: %v", err)
	}
}
