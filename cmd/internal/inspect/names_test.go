package inspect

import (
	"testing"

	"matladder/internal/cli"
)

// TestNames: pictures of one kernel with different blocks do not overwrite each
// other.
func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for blocks, want := range map[string]string{
		"32x32x32": "out/traverse_v4_optblock_64_float32_32x32x32.html\n",
		"64x32x16": "out/traverse_v4_optblock_64_float32_64x32x16.html\n",
	} {
		code, stdout, stderr := inspect("v4", "--sizes", "64", "--blocks", blocks, "--as", "traverse", "--format", "html")
		if code != cli.OK || stdout != want {
			t.Errorf("%s: exit %d, %s%s", blocks, code, stdout, stderr)
		}
	}
}
