package registry_test

import (
	"context"
	"fmt"

	"matladder/backend/cpu"
	"matladder/backend/registry"
)

// A backend is what its entry says: flags, help and the check of what is asked follow.
func ExampleEntry() {
	e := registry.Entry{
		Name: "one-core", Help: "one core of this machine", Can: registry.Measures,
		Params: []registry.Param{registry.Choice("b", "how b is read", "by rule", "packed", "direct")},
		Open: func(context.Context, registry.Request) (*registry.Device, error) {
			b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
			return &registry.Device{Backend: b}, err
		},
	}
	fmt.Println(e.Check(registry.Request{Params: map[string]string{"b": "backwards"}}))
	d, err := e.Start(context.Background(), registry.Request{Params: map[string]string{"b": "direct"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.Backend.Name())
	// Output:
	// --param b=backwards: no such choice (known: packed, direct)
	// cpu
}
