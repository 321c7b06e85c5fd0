package plugintest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Index is a package index that serves wheels from memory. Fields are set before
// requests are made.
type Index struct {
	*httptest.Server
	HTML     bool              // serve pages as HTML, else as JSON
	Sums     map[string]string // the SHA-256 to announce of a file instead of its own
	CutAfter int               // break off each answer with a file after so many bytes; 0 never
	Wait     chan struct{}     // with CutAfter, until closed: stop there instead of breaking off
	Status   int               // answer every request so; 0 as it should be
	NoRanges bool              // ignore requests for a part of a file
	User     string            // ask for this name and the password "secret"; "" for none

	mu       sync.Mutex
	files    map[string][]byte
	projects map[string][]string
	requests []string
}

// NewIndex starts an index that ends with the test.
func NewIndex(t testing.TB) *Index { return start(t, httptest.NewServer) }

// NewTLSIndex is NewIndex with a certificate that nobody knows.
func NewTLSIndex(t testing.TB) *Index { return start(t, httptest.NewTLSServer) }

func start(t testing.TB, serve func(http.Handler) *httptest.Server) *Index {
	x := &Index{files: map[string][]byte{}, projects: map[string][]string{}, Sums: map[string]string{}}
	x.Server = serve(x)
	x.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(x.Close)
	return x
}

// Add offers a file of a project.
func (x *Index) Add(project, file string, content []byte) {
	x.files[file] = content
	x.projects[project] = append(x.projects[project], file)
}

// SimpleURL is what to give as the index's address.
func (x *Index) SimpleURL() string { return x.URL + "/simple" }

// Requests are the paths asked for so far, each with its Range, if any.
func (x *Index) Requests() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.requests...)
}

func (x *Index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.requests = append(x.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	x.mu.Unlock()
	if x.User != "" {
		if user, password, _ := r.BasicAuth(); user != x.User || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	if x.Status != 0 {
		w.WriteHeader(x.Status)
		return
	}
	if project, ok := strings.CutPrefix(r.URL.Path, "/simple/"); ok {
		x.page(w, strings.TrimSuffix(project, "/"))
		return
	}
	name, _ := strings.CutPrefix(r.URL.Path, "/files/")
	content, ok := x.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if x.NoRanges {
		r.Header.Del("Range")
	}
	if x.CutAfter > 0 {
		w = &cutter{ResponseWriter: w, left: x.CutAfter, wait: x.Wait}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

func (x *Index) page(w http.ResponseWriter, project string) {
	names := x.projects[project]
	if names == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if x.HTML {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html><body>\n")
		for _, name := range names {
			fmt.Fprintf(w, "<a href=\"../../files/%s#sha256=%s\" data-requires-python=\"&gt;=3.9\">%s</a><br/>\n", name, x.sum(name), html.EscapeString(name))
		}
		fmt.Fprint(w, "<a href='../../files/old.whl' data-yanked>old-1.0-py3-none-any.whl</a>\n</body></html>\n")
		return
	}
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	var files []map[string]any
	for _, name := range names {
		files = append(files, map[string]any{
			"filename": name, "url": "/files/" + name, "size": len(x.files[name]), "yanked": false,
			"hashes": map[string]string{"sha256": x.sum(name)},
		})
	}
	json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": project, "files": files})
}

func (x *Index) sum(name string) string {
	if s, ok := x.Sums[name]; ok {
		return s
	}
	s := sha256.Sum256(x.files[name])
	return hex.EncodeToString(s[:])
}

// cutter breaks the connection off after some bytes of the body.
type cutter struct {
	http.ResponseWriter
	left int
	wait chan struct{}
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) > c.left {
		c.ResponseWriter.Write(b[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		if c.wait != nil {
			<-c.wait
		}
		panic(http.ErrAbortHandler)
	}
	c.left -= len(b)
	return c.ResponseWriter.Write(b)
}
