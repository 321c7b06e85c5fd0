//go:build linux && (amd64 || arm64)

package probe

import (
	"context"
	"fmt"

	"matladder/internal/child"
)

const supported = true

// Child does what Run asks for and ends the process, if this is a process that Run
// started; it returns at once otherwise.
func Child() {
	var p plugin
	child.Serve(role, func(_ context.Context, r request, _ [][]byte) (Report, [][]byte) {
		if err := p.take(r); err != nil {
			p.Problem = err.Error()
		}
		return p.Report, nil
	})
}

// plugin is what the child has loaded, and what is known of it so far.
type plugin struct {
	Report
	get func() *api
	api *api
}

func (p *plugin) take(r request) (err error) {
	switch r.Step {
	case Load:
		p.get, err = load(r.Path)
		return err
	case Header:
		return p.header()
	}
	return p.client()
}

func (p *plugin) header() error {
	a := p.get()
	if a == nil {
		return fmt.Errorf("%s returns nothing", entryPoint)
	}
	if a.size < headerBytes || a.size > maxTableBytes {
		return fmt.Errorf("%s returns no table of functions (its size would be %d)", entryPoint, a.size)
	}
	p.api, p.API, p.APIBytes = a, fmt.Sprintf("%d.%d", a.version.major, a.version.minor), int(a.size)
	return nil
}

func (p *plugin) client() error {
	client, err := p.api.client()
	if err != nil {
		return err
	}
	if p.Platform, err = p.api.text(clientPlatformName, client); err != nil {
		return err
	}
	if p.PlatformVersion, err = p.api.text(clientPlatformVersion, client); err != nil {
		return err
	}
	p.Devices, err = p.api.deviceKinds(client)
	return err
}
