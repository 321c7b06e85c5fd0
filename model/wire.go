package model

import (
	"cmp"
	"slices"

	"matladder/internal/each"
	"matladder/machine"
)

// WireTime is how long a collective takes on the wire: with the figures that are believed,
// and with each at the end of its range that makes it shorter or longer.
type WireTime struct {
	Seconds, Least, Most float64
}

// Plus is one after the other.
func (t WireTime) Plus(u WireTime) WireTime {
	return WireTime{t.Seconds + u.Seconds, t.Least + u.Least, t.Most + u.Most}
}

// Collective is how long an exchange among the devices along an axis of the mesh takes, or
// along several axes together, by an alpha-beta model: the start of a collective, hops times
// the latency of one, and bytes over the bandwidth of the links that it has.
//
//	all-gather, reduce-scatter  start + (P−1)/P · bytes / bandwidth + hops · latency
//	all-reduce                  start + twice the rest of that
//	all-to-all                  start + what crosses the middle of each dimension / links there + hops · latency
//	collective-permute          start + bytes / one link + latency
//
// bytes is the whole array of a group: what each device has after an all-gather, or before
// a reduce-scatter, an all-reduce or an all-to-all. A ring uses links in both directions, a
// line that does not wrap round in one at a time; of several dimensions the bandwidths add
// up (jax-ml/scaling-book, sharding.md). Parts of one dimension that lie between each other
// share its links, and so do the devices of one chip. Inside of a chip bytes go through
// its memory, at half its bandwidth.
func (p Placement) Collective(kind string, bytes int64, axes ...string) WireTime {
	if p.slow == nil {
		slow, fast := p.chip.Extremes()
		p.slow, p.fast = &slow, &fast
	}
	return WireTime{p.collective(kind, bytes, axes, p.chip), p.collective(kind, bytes, axes, *p.fast), p.collective(kind, bytes, axes, *p.slow)}
}

func (p Placement) collective(kind string, bytes int64, axes []string, d machine.Device) float64 {
	size, link, hop := float64(bytes), d.LinkBytesPerSecond.Value, d.HopSeconds.Value
	cores := 1.
	for _, axis := range axes {
		cores *= float64(max(1, p.cores[axis]))
	}
	shared := float64(d.DevicesPerChip) / cores // devices of a chip that are in other groups
	if p.mesh.Devices() < d.DevicesPerChip {
		shared = 1
	}
	inside := size * (cores - 1) / cores / (d.BandwidthBytesPerSecond.Value / 2)
	chips, bandwidth, hops, middle := 1., 0., 0., 0.
	for _, r := range p.along(axes) {
		n, stride, links := float64(r.devices), float64(r.stride), 1.
		chips *= n
		if r.ring {
			links = 2
			hops += n * stride / 2
		} else {
			hops += (n - 1) * stride
		}
		bandwidth += links * link / stride
		middle = max(middle, size*n*stride/(4*links*link))
	}
	if chips == 1 && cores == 1 {
		return 0
	}
	seconds := inside
	switch {
	case chips == 1:
	case kind == "all-to-all":
		seconds = seconds/2 + middle*shared*cores + hops*hop
	case kind == "collective-permute":
		seconds = size/link*shared + hop
	default:
		seconds += size*(chips-1)/chips/bandwidth*shared + hops*hop
	}
	if kind == "all-reduce" {
		seconds *= 2
	}
	return d.CollectiveSeconds.Value + seconds
}

// along are the parts of the torus that some axes have together: those of one dimension
// that follow each other are one.
func (p Placement) along(axes []string) []part {
	if len(axes) == 1 {
		return p.parts[axes[0]]
	}
	list := slices.Concat(each.Of(axes, func(axis string) []part { return p.parts[axis] })...)
	slices.SortFunc(list, func(a, b part) int { return cmp.Or(a.dim-b.dim, a.stride-b.stride) })
	joined := list[:0]
	for _, r := range list {
		if n := len(joined) - 1; n >= 0 && joined[n].dim == r.dim && joined[n].stride*joined[n].devices == r.stride {
			joined[n].devices *= r.devices
			joined[n].ring = r.ring
			continue
		}
		joined = append(joined, r)
	}
	return joined
}
