//go:build linux && (amd64 || arm64)

package probe

import (
	"context"
	"fmt"
	"unsafe"

	"matladder/internal/child"
	"matladder/internal/pjrtapi"
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
	library pjrtapi.Library
	table   *pjrtapi.Table
}

func (p *plugin) take(r request) (err error) {
	switch r.Step {
	case Load:
		p.library, err = pjrtapi.Open(r.Path)
		return err
	case Header:
		if p.table, err = p.library.Table(); err == nil {
			p.API, p.APIBytes = fmt.Sprintf("%d.%d", p.table.Major, p.table.Minor), len(p.table.Memory)
		}
		return err
	}
	return p.client()
}

// client initializes the plugin, creates a client without options and asks about it.
func (p *plugin) client() error {
	if err := pjrtapi.Call(p.table, pjrtapi.PluginInitialize, new(pjrtapi.Args)); err != nil {
		return err
	}
	var made pjrtapi.ClientArgs
	if err := pjrtapi.Call(p.table, pjrtapi.ClientCreate, &made); err != nil {
		return err
	}
	var err error
	if p.Platform, err = p.table.Text(pjrtapi.ClientPlatformName, made.Client); err != nil {
		return err
	}
	if p.PlatformVersion, err = p.table.Text(pjrtapi.ClientPlatformVersion, made.Client); err != nil {
		return err
	}
	list := pjrtapi.DevicesArgs{Client: made.Client}
	if err := pjrtapi.Call(p.table, pjrtapi.ClientAddressableDevices, &list); err != nil || list.Count == 0 {
		return err
	}
	for _, device := range unsafe.Slice(list.Devices, list.Count) {
		d := pjrtapi.HandleArgs{Of: device}
		if err := pjrtapi.Call(p.table, pjrtapi.DeviceDescription, &d); err != nil {
			return err
		}
		kind, err := p.table.Text(pjrtapi.DeviceDescriptionKind, d.Made)
		if err != nil {
			return err
		}
		p.Devices = append(p.Devices, kind)
	}
	return nil
}
