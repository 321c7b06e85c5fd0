package plugins

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"matladder/internal/deadline"
)

// DefaultIndex is the Python package index.
const DefaultIndex = "https://pypi.org/simple/"

// IndexVariable is the variable by which pip knows another index.
const IndexVariable = "PIP_INDEX_URL"

// indexURL returns the index to ask: the one given, else IndexVariable's, else
// DefaultIndex. It ends in a slash.
func indexURL(given string) (*url.URL, error) {
	u, err := url.Parse(cmp.Or(given, os.Getenv(IndexVariable), DefaultIndex))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the index URL must begin with http:// or https:// and a host") // not quoted: it may hold a password
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// indexFile is a file that the index offers.
type indexFile struct {
	Name   string
	URL    *url.URL
	SHA256 string // hex, lower case; "" if the index does not say
	Size   int64  // 0 if the index does not say
	pinned bool   // SHA256 is that of the table, whatever the index says
}

// maxPage bounds a page of the index.
const maxPage = 64 << 20

// acceptPage asks for the index's JSON form first, then for HTML, which every
// mirror has (packaging.python.org, simple repository API).
const acceptPage = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

// files lists what the index has of a project, without what was yanked.
func (in *installer) files(ctx context.Context, project string) ([]indexFile, error) {
	page := in.index.JoinPath(project + "/")
	var body []byte
	var final *url.URL
	var kind string
	limited, cancel := context.WithTimeoutCause(ctx, in.page, fmt.Errorf("the index %s has not sent its page of %s within %v; --index-url names another", in.index.Redacted(), project, in.page))
	defer cancel()
	err := in.retry(limited, func() error {
		resp, err := in.get(limited, page, http.Header{"Accept": {acceptPage}})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return fmt.Errorf("the index %s has no project %s", in.index.Redacted(), project)
		}
		if err := statusError(resp); err != nil {
			return err
		}
		final, kind = resp.Request.URL, resp.Header.Get("Content-Type")
		if body, err = io.ReadAll(io.LimitReader(resp.Body, maxPage+1)); err != nil {
			return transient{fmt.Errorf("read %s: %w", page.Redacted(), cause(err))}
		}
		return nil
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = context.Cause(limited)
	}
	if err != nil {
		return nil, err
	}
	if len(body) > maxPage {
		return nil, fmt.Errorf("%s: the page is over %d bytes: not an index", page.Redacted(), maxPage)
	}
	if media, _, _ := mime.ParseMediaType(kind); strings.HasSuffix(media, "json") {
		return parseJSONPage(body, final)
	}
	return parseHTMLPage(body, final), nil
}

func parseJSONPage(body []byte, base *url.URL) ([]indexFile, error) {
	var page struct {
		Files []struct {
			Filename string            `json:"filename"`
			URL      string            `json:"url"`
			Hashes   map[string]string `json:"hashes"`
			Size     int64             `json:"size"`
			Yanked   any               `json:"yanked"` // false, true, or the reason
		} `json:"files"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, fmt.Errorf("%s is not a page of an index: %w", base.Redacted(), err)
	}
	var files []indexFile
	for _, f := range page.Files {
		u, err := base.Parse(f.URL)
		if err != nil || f.Yanked != nil && f.Yanked != false {
			continue
		}
		files = append(files, indexFile{Name: f.Filename, URL: withUser(u, base), SHA256: strings.ToLower(f.Hashes["sha256"]), Size: f.Size})
	}
	return files, nil
}

var (
	anchor    = regexp.MustCompile(`(?is)<a\s([^>]*)>(.*?)</a>`)
	attribute = regexp.MustCompile(`(?is)([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?`)
)

// parseHTMLPage reads the anchors of a page; the SHA-256 is in the fragment.
func parseHTMLPage(body []byte, base *url.URL) []indexFile {
	var files []indexFile
	for _, a := range anchor.FindAllSubmatch(body, -1) {
		attrs := map[string]string{}
		for _, m := range attribute.FindAllSubmatch(a[1], -1) {
			attrs[strings.ToLower(string(m[1]))] = html.UnescapeString(string(m[2]) + string(m[3]))
		}
		u, err := base.Parse(attrs["href"])
		if _, yanked := attrs["data-yanked"]; err != nil || yanked {
			continue
		}
		sum, _ := strings.CutPrefix(u.Fragment, "sha256=")
		if sum == u.Fragment {
			sum = ""
		}
		u.Fragment = ""
		name := strings.TrimSpace(html.UnescapeString(string(a[2])))
		files = append(files, indexFile{Name: name, URL: withUser(u, base), SHA256: strings.ToLower(sum)})
	}
	return files
}

// withUser gives u the name and password of base if both are of one host.
func withUser(u, base *url.URL) *url.URL {
	if u.User == nil && u.Host == base.Host {
		u.User = base.User
	}
	return u
}

// certificateVariables name files of certificates to trust beside the system's;
// Go reads SSL_CERT_FILE itself, but not on every system.
var certificateVariables = []string{"SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}

// newClient returns a client that honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY,
// and the certificate variables.
func newClient() (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 60 * time.Second
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, name := range certificateVariables {
		file := os.Getenv(name)
		if file == "" {
			continue
		}
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("certificates of %s: %w", name, err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificates of %s: %s has none", name, file)
		}
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool}
	return &http.Client{Transport: t}, nil
}

// transient marks an error that another attempt may not meet.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// attempts is how often a request is made.
const attempts = 4

// retry calls f until it succeeds, fails for good, or has failed too often.
func (in *installer) retry(ctx context.Context, f func() error) error {
	wait := in.pause
	for attempt := 1; ; attempt++ {
		err := f()
		if err == nil || ctx.Err() != nil || !errors.As(err, new(transient)) || attempt == attempts {
			return cmp.Or(ctx.Err(), err)
		}
		if err := deadline.Sleep(ctx, wait); err != nil {
			return err
		}
		wait *= 2
	}
}

// get makes a request. An error names the address, but no password.
func (in *installer) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "matladder")
	resp, err := in.client.Do(req)
	if err != nil {
		return nil, transient{fmt.Errorf("cannot reach %s: %w (HTTPS_PROXY names a proxy, --index-url another index)", u.Redacted(), cause(err))}
	}
	return resp, nil
}

// cause takes the address off an error of package net/http.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return fmt.Errorf("%w (SSL_CERT_FILE names certificates to trust)", err)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("no address for host %s", dns.Name)
	}
	return err
}

// statusError turns a status that is no success into an error.
func statusError(resp *http.Response) error {
	if resp.StatusCode < 300 {
		return nil
	}
	err := fmt.Errorf("%s answers %s", resp.Request.URL.Redacted(), resp.Status)
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout {
		return transient{err}
	}
	return err
}

// stallReader sets its timer back whenever another stallBytes have come.
type stallReader struct {
	io.Reader
	timer *time.Timer
	after time.Duration
	came  int
}

func (r *stallReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if r.came += n; r.came >= stallBytes {
		r.came = 0
		r.timer.Reset(r.after)
	}
	return n, err
}
