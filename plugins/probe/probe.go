package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Report is what is known of a plugin.
type Report struct {
	API             string   `json:"api"`      // PJRT API version, as 0.81
	APIBytes        int      `json:"api_size"` // of the plugin's table of functions
	Platform        string   `json:"platform"` // of the client, as cpu; "" without one
	PlatformVersion string   `json:"platform_version"`
	Devices         []string `json:"devices"` // the kind of each
	Step            Step     `json:"step"`    // the last one begun
	Problem         string   `json:"problem"` // why that step failed; "" if all went well
	Done            bool     `json:"done"`
}

// Step is how far a plugin came.
type Step string

// The steps.
const (
	Start  Step = "starting"
	Load   Step = "loading the library"
	Header Step = "asking for its functions"
	Client Step = "creating a client"
)

// Options say how far to go.
type Options struct {
	Client bool          // create a client, not only load the library
	Env    []string      // added to the environment of the child
	Limit  time.Duration // for all steps; 0 is a minute
}

// variable names, to the child, the plugin and whether to create a client.
const variable = "MATLADDER_PROBE"

// request is what variable holds.
type request struct {
	Path   string
	Client bool
}

// Run probes the plugin at path. A plugin that does not work is a Report with a
// Problem; the error is for a child that could not be started, or an end of ctx.
func Run(ctx context.Context, path string, o Options) (Report, error) {
	if !supported {
		return Report{}, errors.New("plugins can be loaded on Linux (amd64, arm64) alone")
	}
	if o.Limit == 0 {
		o.Limit = time.Minute
	}
	self, err := os.Executable()
	if err != nil {
		return Report{}, fmt.Errorf("probe: %w", err)
	}
	ask, err := json.Marshal(request{path, o.Client})
	if err != nil {
		return Report{}, fmt.Errorf("probe: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Report{}, fmt.Errorf("probe: %w", err)
	}
	defer read.Close()
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	var said tail
	cmd := exec.CommandContext(limited, self)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none") // a trace of this program says nothing of the plugin
	cmd.Env = append(append(cmd.Env, o.Env...), variable+"="+string(ask))
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.ExtraFiles = []*os.File{write} // descriptor 3
	cmd.WaitDelay = time.Second        // for a grandchild that keeps the output open
	ownGroup(cmd)
	err = cmd.Start()
	write.Close()
	if err != nil {
		return Report{}, fmt.Errorf("probe: %w", err)
	}
	r := Report{Step: Start}
	lines := make(chan struct{})
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(read); s.Scan(); {
			json.Unmarshal(s.Bytes(), &r) // a torn line is that of a crash
		}
	}()
	err = cmd.Wait()
	read.SetReadDeadline(time.Now().Add(time.Second)) // a grandchild may hold the pipe
	<-lines
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.Done:
		return r, nil
	case limited.Err() != nil:
		r.Problem = fmt.Sprintf("no answer within %v while %s", o.Limit, r.Step)
	default:
		r.Problem = fmt.Sprintf("it ended the process while %s (%s)", r.Step, ending(err))
	}
	if last := said.last(); last != "" {
		r.Problem += "; it said last: " + last
	}
	return r, nil
}

// ending says how a process ended.
func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// tail keeps the end of what a child prints.
type tail struct{ b []byte }

const tailBytes = 1 << 16

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-tailBytes):]
	return len(p), nil
}

// last returns the last line, or the one before what the Go runtime adds to a
// signal: registers and a trace.
func (t *tail) last() string {
	text, _, _ := bytes.Cut(t.b, []byte("\nPC="))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
