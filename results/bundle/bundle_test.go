package bundle

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive is a zip file of names and texts in turns.
func archive(t *testing.T, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(pairs[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRead: what was written is read, and of what was not there is one line.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.zip")
	if err := Write(path, map[string][]byte{"b/c": []byte("two"), "a": []byte("")}); err != nil {
		t.Fatal(err)
	}
	content, err := Read(path)
	if err != nil || len(content) != 2 || string(content["b/c"]) != "two" || content["a"] == nil {
		t.Fatalf("%q, %v", content, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	const of = `{"Format":"matladder bundle 1","SHA256":{"a":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}`
	link := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "a"}
		h.SetMode(os.ModeSymlink | 0o777)
		w, _ := z.CreateHeader(h)
		w.Write([]byte("/etc/passwd"))
		z.Close()
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"as it should be": {archive(t, manifestName, of, "a", "abc"), ""},
		"changed":         {archive(t, manifestName, of, "a", "abd"), "a was changed: its hash is not that of the manifest"},
		"one more":        {archive(t, manifestName, of, "a", "abc", "b", "x"), "b was changed"},
		"one less":        {archive(t, manifestName, of), `"a" is missing`},
		"twice":           {archive(t, manifestName, of, "a", "abc", "a", "abc"), "is there twice"},
		"up":              {archive(t, manifestName, of, "../a", "abc"), `"../a" is not a file that a bundle has`},
		"rooted":          {archive(t, manifestName, of, "/a", "abc"), "is not a file that a bundle has"},
		"a folder":        {archive(t, manifestName, of, "a/", ""), "is not a file that a bundle has"},
		"a link":          {link(), "is not a file that a bundle has"},
		"no manifest":     {archive(t, "a", "abc"), "no bundle: its manifest.json"},
		"another format":  {archive(t, manifestName, `{"Format":"bundle 9"}`), `format "bundle 9", want`},
		"huge":            {archive(t, manifestName, of, "a", strings.Repeat("a", most+1)), "its files have more than 1 MiB"},
		"cut":             {whole[:len(whole)-30], "not a whole bundle"},
		"empty":           {nil, "not a whole bundle"},
		"damaged":         {bytes.Replace(whole, []byte("two"), []byte("twx"), 1), ""},
	} {
		_, err := read(c.text, most)
		if name == "damaged" && bytes.Equal(c.text, whole) {
			continue // it was compressed
		}
		switch {
		case c.want == "" && name != "damaged":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
