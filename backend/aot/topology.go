package aot

import (
	"fmt"
	"strings"
)

// Topology is a generation of TPU as libtpu and the chip table know it.
type Topology struct {
	Name   string // the generation: v5e
	Libtpu string // the smallest arrangement that libtpu compiles for
	Chip   string // key in package chips
}

var topologies = []Topology{
	{"v4", "v4:2x2x1", "tpu_v4"},
	{"v5e", "v5e:2x2", "tpu_v5e"},
	{"v5p", "v5p:2x2x1", "tpu_v5p"},
	{"v6e", "v6e:2x2", "tpu_v6e"},
	{"v7x", "tpu7x:2x2x1", "tpu_v7x"},
}

// Topologies lists the generations, the oldest first.
func Topologies() []Topology { return append([]Topology(nil), topologies...) }

// FindTopology returns the generation of a name.
func FindTopology(name string) (Topology, error) {
	var known []string
	for _, t := range topologies {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return Topology{}, fmt.Errorf("unknown TPU topology %q (known: %s)", name, strings.Join(known, ", "))
}
