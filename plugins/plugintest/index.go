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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Index is a package index that serves wheels from memory.
type Index struct {
	*httptest.Server

	mu       sync.Mutex
	faults   Faults
	files    map[string][]byte
	projects map[string][]string
	requests []string
}

// Faults are how an index misbehaves, or differs from others.
type Faults struct {
	HTML     bool              // serve pages as HTML, else as JSON
	Sums     map[string]string // the SHA-256 to announce of a file instead of its own
	CutAfter int               // break off each answer with a file after so many bytes; 0 never
	Wait     chan struct{}     // with CutAfter, until closed: stop there instead of breaking off
	Status   int               // answer every request so; 0 as it should be
	NoRanges bool              // ignore requests for a part of a file
	Silent   chan struct{}     // until closed: send the headers of every answer, then nothing
	Sizes    map[string]int    // the bytes to announce of a file instead of its own
	Unsized  int               // send files without their length, and so many bytes more
	User     string            // ask for this name and the password "secret"; "" for none
}

// Fail makes the index misbehave from now on, and only so.
func (x *Index) Fail(f Faults) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults = f
}

// NewIndex starts an index that ends with the test.
func NewIndex(t testing.TB) *Index { return start(t, httptest.NewServer) }

// NewTLSIndex is NewIndex with a certificate that nobody knows.
func NewTLSIndex(t testing.TB) *Index { return start(t, httptest.NewTLSServer) }

func start(t testing.TB, serve func(http.Handler) *httptest.Server) *Index {
	x := &Index{files: map[string][]byte{}, projects: map[string][]string{}}
	x.Server = serve(x)
	x.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(x.Close)
	return x
}

// Add offers a file of a project, behind those that it has.
func (x *Index) Add(project, file string, content []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files[file] = content
	x.projects[project] = append(x.projects[project], file)
}

// SimpleURL is what to give as the index's address.
func (x *Index) SimpleURL() string { return x.URL + "/simple" }

// Requests are the paths asked for so far, each with its Range, if any.
func (x *Index) Requests() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.requests)
}

func (x *Index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, isFile := strings.CutPrefix(r.URL.Path, "/files/")
	x.mu.Lock()
	x.requests = append(x.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	faults := x.faults
	content, found := x.files[name]
	x.mu.Unlock()
	if faults.User != "" {
		if user, password, _ := r.BasicAuth(); user != faults.User || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	switch project, isPage := strings.CutPrefix(r.URL.Path, "/simple/"); {
	case faults.Silent != nil:
		w.Header().Set("Content-Length", "1000")
		w.(http.Flusher).Flush()
		select {
		case <-faults.Silent:
		case <-r.Context().Done():
		}
	case faults.Status != 0:
		w.WriteHeader(faults.Status)
	case isPage:
		x.page(w, strings.TrimSuffix(project, "/"), faults)
	case isFile && found && faults.Unsized > 0:
		w.(http.Flusher).Flush() // in chunks from here on
		w.Write(append(bytes.Clone(content), make([]byte, faults.Unsized)...))
	case isFile && found:
		if faults.NoRanges {
			r.Header.Del("Range")
		}
		if faults.CutAfter > 0 {
			w = &cutter{w, faults.CutAfter, faults.Wait}
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	default:
		http.NotFound(w, r)
	}
}

// offer is a file as a page shows it.
type offer struct {
	Filename string            `json:"filename"`
	URL      string            `json:"url"`
	Size     int               `json:"size"`
	Yanked   any               `json:"yanked"` // false, or why it should not be used
	Hashes   map[string]string `json:"hashes"`
}

func (x *Index) page(w http.ResponseWriter, project string, faults Faults) {
	x.mu.Lock()
	var offers []offer
	for _, name := range x.projects[project] {
		sum := sha256.Sum256(x.files[name])
		announced, ok := faults.Sums[name]
		if !ok {
			announced = hex.EncodeToString(sum[:])
		}
		size, ok := faults.Sizes[name]
		if !ok {
			size = len(x.files[name])
		}
		offers = append(offers, offer{name, "../../files/" + name, size, false, map[string]string{"sha256": announced}})
	}
	x.mu.Unlock()
	if offers == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	// One file of every project was withdrawn.
	offers = append(offers, offer{"withdrawn-1.0-py3-none-any.whl", "../../files/withdrawn", 1, "broken", nil})
	if !faults.HTML {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.1"}, "name": project, "files": offers})
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!DOCTYPE html><html><body>\n")
	for _, o := range offers {
		yanked := ""
		if o.Yanked != false {
			yanked = " data-yanked"
		}
		fmt.Fprintf(w, "<a href=\"%s#sha256=%s\" data-requires-python=\"&gt;=3.9\"%s>%s</a><br/>\n", o.URL, o.Hashes["sha256"], yanked, html.EscapeString(o.Filename))
	}
	fmt.Fprint(w, "</body></html>\n")
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
