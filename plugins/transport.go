package plugins

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
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
