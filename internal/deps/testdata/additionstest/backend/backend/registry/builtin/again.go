package builtin

import (
	"context"

	"matladder/backend"
	"matladder/backend/again"
	"matladder/backend/registry"
)

var againEntry = registry.Entry{
	Name: "again", Help: "one core of this machine", Can: registry.Measures,
	Params: []registry.Param{registry.Number("beads", "beads on a wire", "10", 1, 100)},
	Open: func(_ context.Context, r registry.Request) (*registry.Device, error) {
		b, err := again.Open()
		if err != nil {
			return nil, err
		}
		return &registry.Device{Backend: b, Params: backend.Params{Threads: 1}, Summary: r.Params["beads"] + " beads"}, nil
	},
}
