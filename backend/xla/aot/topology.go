package aot

import (
	"matladder/internal/known"
	"matladder/machine"
)

// Topology is a generation of TPU as libtpu and the chip table know it.
type Topology struct {
	Name   string // the generation: v5e
	Libtpu string // the smallest arrangement that libtpu compiles for
	Chip   string // key in package machine

	granule int64 // bytes: the unit in which its schedules count what a transfer moves
	split   bool  // a device is one core of a chip that the table has as one device
}

var topologies = []Topology{
	{"v4", "v4:2x2x1", "tpu_v4", 512, true},
	{"v5e", "v5e:2x2", "tpu_v5e", 32, false},
	{"v5p", "v5p:2x2x1", "tpu_v5p", 32, false},
	{"v6e", "v6e:2x2", "tpu_v6e", 32, false},
	{"v7x", "tpu7x:2x2x1", "tpu_v7x", 32, false},
}

// Device is the chip that the compiler takes one device of the topology for.
func (t Topology) Device() (machine.Device, error) {
	d, err := machine.Find(t.Chip)
	if err == nil && t.split {
		d = d.Split()
	}
	return d, err
}

// Topologies lists the generations, the oldest first.
func Topologies() []Topology { return append([]Topology(nil), topologies...) }

// FindTopology returns the generation of a name.
func FindTopology(name string) (Topology, error) {
	return known.Find("TPU topology", name, topologies, func(t Topology) string { return t.Name })
}
