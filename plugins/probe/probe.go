package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"matladder/internal/child"
)

// Report is what is known of a plugin.
type Report struct {
	API             string // PJRT API version, as 0.81
	APIBytes        int    // of the plugin's table of functions
	Platform        string // of the client, as cpu; "" without one
	PlatformVersion string
	Devices         []string // the kind of each
	Step            Step     // the last one begun
	Problem         string   // why that step failed; "" if all went well
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

// role is that of a child process that loads a plugin.
const role = "probe"

// request asks for a step.
type request struct {
	Step Step
	Path string
}

// Run probes the plugin at path. A plugin that does not work is a Report with a
// Problem; the error is for a child that could not be started, or an end of ctx.
func Run(ctx context.Context, path string, o Options) (Report, error) {
	if !supported {
		return Report{}, errors.New("plugins can be loaded on Linux (amd64, arm64) alone")
	}
	o.Limit = cmp.Or(o.Limit, time.Minute)
	p, err := child.Start(child.Options{Role: role, Env: o.Env})
	if err != nil {
		return Report{}, fmt.Errorf("probe: %w", err)
	}
	defer p.Kill() // without taking the client down, which may hang
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	steps := []Step{Load, Header}
	if o.Client {
		steps = append(steps, Client)
	}
	r := Report{Step: Start}
	for _, step := range steps {
		var next Report
		err := p.Ask(limited, string(step), request{step, path}, nil, &next, nil)
		switch crash, crashed := errors.AsType[*child.CrashError](err); {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case err == nil:
			r = next
		case limited.Err() != nil:
			r.Problem = fmt.Sprintf("no answer within %v while %s", o.Limit, step)
		case crashed:
			r.Problem = fmt.Sprintf("it ended the process while %s (%s)", step, crash.Reason)
		default:
			return r, fmt.Errorf("probe: %w", err)
		}
		if r.Step = step; r.Problem != "" {
			return r, nil
		}
	}
	return r, nil
}
