package configs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/configs"
)

// TestDrawn: the shapes of sweep drawn are those of its seed, each size log-uniform in 1 … 8192, so
// that nobody chose them.
func TestDrawn(t *testing.T) {
	text, _, err := configs.Read("drawn")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	r := rand.New(rand.NewPCG(49, 0))
	for range 40 {
		var size [3]int
		for i := range size {
			size[i] = int(math.Exp(r.Float64() * math.Log(8193)))
		}
		fmt.Fprintf(&want, "  - %dx%dx%d\n", size[0], size[1], size[2])
	}
	_, list, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\nsizes:\n")
	if list, _, _ = strings.Cut(list, "kernels:"); list != want.String() {
		t.Errorf("sizes:\n%s", want.String())
	}
}
