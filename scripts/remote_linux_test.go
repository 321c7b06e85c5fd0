package scripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemote_Attach: the measurement is started once and goes on without the
// connection; whoever attaches sees all of it and gets its status.
func TestRemote_Attach(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "sha256sum", "tee", "timeout")
	c := newClone(t)
	c.write("bin/bench", "#!/usr/bin/env bash\necho run >>runs\necho \"bench $*\"\nsleep 2\necho measured >\"$2\"\nexit 1\n")
	if err := os.Chmod(filepath.Join(c.dir, "bin/bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("cut", `"$@" & sleep 0.7; kill -9 $!; wait $! 2>/dev/null; "$@"`)
	status, stdout, all := c.run(misbehave{}, "../cut", c.bash, filepath.Join(c.dir, "scripts/remote"), "attach", "60", "out/bench.csv", "--backend", "tpu", "--dtype", "float32,int8")
	if status != 1 {
		t.Errorf("status %d, want bench's", status)
	}
	if !strings.Contains(stdout, "bench --out out/bench.csv --backend tpu --dtype float32,int8\n") || c.read("runs") != "run\n" {
		t.Errorf("started %q\n%s", c.read("runs"), all)
	}
	if status, _, all := c.run(misbehave{}, "remote", "pack", filepath.Join(c.dir, "r.tgz")); status != 0 {
		t.Fatal(all)
	}
	packed := map[string]string{}
	z, err := gzip.NewReader(bytes.NewReader([]byte(c.read("r.tgz"))))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		packed[h.Name] = string(text)
	}
	if packed["./bench.csv"] != "measured\n" || !strings.Contains(packed["./bench.log"], "bench --out") {
		t.Errorf("packed %q", packed)
	}
}

// TestRemote_TimeLimit: a bench that does not end is interrupted and keeps what
// it has.
func TestRemote_TimeLimit(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "sha256sum", "tee", "timeout")
	c := newClone(t)
	c.write("bin/bench", "#!/usr/bin/env bash\ntrap 'echo kept >\"$2\"; exit 130' INT\nwhile :; do sleep 0.1; done\n")
	if err := os.Chmod(filepath.Join(c.dir, "bin/bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	status, _, all := c.run(misbehave{}, "remote", "measure", "1", "out/bench.csv")
	if status != 124 || c.read("out/bench.csv") != "kept\n" {
		t.Errorf("status %d, csv %q\n%s", status, c.read("out/bench.csv"), all)
	}
}

// TestRemote_Checksum: an archive of Go that is not the pinned one is refused.
func TestRemote_Checksum(t *testing.T) {
	t.Parallel()
	need(t, "setsid", "sha256sum", "tee", "timeout")
	c := newClone(t)
	c.write("bin/curl", "#!/usr/bin/env bash\nwhile [ \"$1\" != -o ]; do shift; done\necho other >\"$2\"\n")
	if err := os.Chmod(filepath.Join(c.dir, "bin/curl"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "MATLADDER_GO="+filepath.Join(c.dir, "go"))
	status, stdout, all := c.run(misbehave{}, "remote", "setup", "tpu")
	if status != 1 || !strings.Contains(stdout, "SHA-256 differs") {
		t.Errorf("status %d\n%s", status, all)
	}
}
