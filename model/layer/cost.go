package layer

import (
	"math"

	"matladder/machine"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/tile"
)

// work is what a device does between exchanges: FLOPs at the peak, bytes of memory, and how often.
type work struct {
	flops, bytes, times float64
	scores              bool // of attention
}

// sizes are what a plan leaves for one device.
type sizes struct {
	sequences, length, tokens int // of the busiest device
	groups                    int // along data and expert
	context, model, experts   int
	kvHeads                   int // of a device
	kvShare                   int // devices along model among which the weights of keys and values are split
	cached                    int // sequences whose keys and values a device has
	local                     int // experts of a device
	routed                    int // rows that a device's experts have
}

func (a Ask) sizesOf(p Plan) sizes {
	m, l := p.Mesh, a.Layer
	s := sizes{groups: m.Size(mesh.Data, mesh.Expert), context: m.Size(mesh.Context), model: m.Size(mesh.Model), experts: m.Size(mesh.Expert)}
	s.sequences, s.length = tile.Ceil(a.Sequences, s.groups), tile.Ceil(a.Length, s.context)
	s.tokens = s.sequences * s.length
	if a.Phase == Decode {
		s.tokens = s.sequences
	}
	s.kvHeads, s.kvShare, s.cached = max(1, l.KVHeads/s.model), min(s.model, l.KVHeads), s.sequences
	if p.Caches == BySequences {
		s.kvShare, s.cached = s.model, tile.Ceil(s.sequences, s.model/l.KVHeads)
	}
	s.local, s.routed = l.Experts/s.experts, s.tokens*l.Chosen
	return s
}

// cost fills in what is predicted of a plan on a placement of its mesh.
func (a Ask) cost(p *Plan, at model.Placement, slow, fast machine.Device) {
	s := a.sizesOf(*p)
	p.at, p.tokens, p.Exchanges = at, s.tokens, nil
	products, attention, exchanges := a.passes(p.Recompute)

	w := a.products(*p, s, products)
	w = append(w, a.scores(s, attention))
	p.Compute = model.WireTime{Seconds: on(a.Chip, w, 1), Least: on(fast, w, 1), Most: on(slow, w, SlowAttention)}
	p.mxu, p.hbm = 0, 0
	for _, x := range w {
		p.mxu += x.times * x.flops / a.Chip.PacedPeak("bfloat16", "").Value
		p.hbm += x.times * x.bytes / attained(a.Chip)
	}

	send := func(what, kind string, bytes, times float64, axes ...string) {
		if p.Mesh.Size(axes...) == 1 || times == 0 {
			return
		}
		x := Exchange{What: what, Kind: kind, Axes: axes, Bytes: int64(bytes), Times: times}
		t := at.Collective(kind, x.Bytes, axes...)
		x.Wire = model.WireTime{Seconds: times * t.Seconds, Least: times * t.Least, Most: times * t.Most}
		p.Exchanges = append(p.Exchanges, x)
	}
	a.activations(*p, s, exchanges, send)
	a.weights(*p, s, send)
	p.Wire = model.WireTime{}
	for _, x := range p.Exchanges {
		p.Wire = p.Wire.Plus(x.Wire)
	}

	p.Time = p.Compute.Plus(p.Wire)
	p.Time.Least = max(p.Compute.Least, p.Wire.Least)
	p.Bound = BoundHBM
	switch {
	case p.Wire.Seconds > p.Compute.Seconds:
		p.Bound = BoundWire
	case p.mxu > p.hbm:
		p.Bound = BoundMXU
	}
	forward := products
	if p.Recompute {
		forward--
	}
	useful := forward * a.Layer.FLOPs(a.keys()) * float64(a.Tokens())
	p.Useful = useful / (p.Time.Seconds * float64(a.Devices()) * a.Chip.PeakAt("bfloat16", "").Value)
	p.Memory = a.memory(*p, s)
	p.Fits = float64(p.Memory.Total()) <= a.Chip.MemoryBytes.Value
}

// products are the device's share of multiplying by weights: for attention those of q, k
// and v and of its output, for the rest gate and up, and down.
func (a Ask) products(p Plan, s sizes, times float64) []work {
	l, side := a.Layer, max(1, a.Chip.MXUSide)
	one := func(rows, k, n, matrices, weights float64) work {
		up := func(size float64) float64 { return math.Ceil(size/float64(side)) * float64(side) }
		return work{
			flops: 2 * rows * up(k) * up(n),
			bytes: halfBytes * (matrices*weights + rows*(k+n)),
			times: times,
		}
	}
	d, f, h := float64(l.Width), float64(l.Hidden), float64(l.HeadSize)
	model, rows := float64(s.model), float64(s.tokens)
	columns := float64(l.Heads)/model*h + 2*float64(l.KVHeads)/float64(s.kvShare)*h
	heads := float64(l.Heads) / model * h
	// Where weights stay, a device has a part of the width and multiplies it by the rows of all
	// devices that have the other parts: as many FLOPs. These are the numbers of parts, for the
	// weights of attention and for those of experts.
	dense, sparse := 1., 1.
	if p.Weights == Stationary {
		dense, sparse = float64(s.groups), float64(p.Mesh.Size(mesh.Data))
	}
	routed := float64(s.routed) * sparse
	used := float64(s.local) // experts that a row comes to, on average
	if s.local > 1 {
		used *= 1 - math.Pow(1-1/used, routed)
	}
	if l.Experts == 1 {
		used = 1
	}
	return []work{
		one(rows*dense, d/dense, columns, 1, d/dense*columns),
		one(rows*dense, heads, d/dense, 1, d/dense*heads),
		one(routed, d/sparse, 2*f/model, used, 2*d/sparse*f/model),
		one(routed, f/model, d/sparse, used, d/sparse*f/model),
	}
}

// scores are the products of queries with keys and of probabilities with values, of causal
// attention only for keys that are seen.
func (a Ask) scores(s sizes, times float64) work {
	l := a.Layer
	queries := float64(s.tokens) * float64(l.Heads) / float64(s.model) // heads of a device, of all its tokens
	if s.kvShare > l.KVHeads {                                         // all heads of one of keys, of some sequences
		queries = float64(s.cached) * float64(s.tokens/s.sequences) * float64(l.Heads/l.KVHeads)
	}
	cache := float64(s.cached) * float64(a.Length) * float64(2*s.kvHeads*l.HeadSize)
	return work{
		flops:  4 * queries * a.keys() * float64(l.HeadSize),
		bytes:  halfBytes * (cache + 2*queries*float64(l.HeadSize)),
		times:  times,
		scores: true,
	}
}

// attained is what a device's memory gives.
func attained(d machine.Device) float64 {
	if d.AttainedBytesPerSecond.Known() {
		return d.AttainedBytesPerSecond.Value
	}
	return d.BandwidthBytesPerSecond.Value
}

// on is how long work takes on a device that makes scores at a part of its peak.
func on(d machine.Device, list []work, scores float64) float64 {
	peak, memory, seconds := d.PacedPeak("bfloat16", "").Value, attained(d), 0.
	for _, w := range list {
		compute := w.flops / peak
		if w.scores {
			compute /= scores
		}
		seconds += w.times * model.Overlap(compute, w.bytes/memory, d.OverlapExponent.Value)
	}
	return seconds
}

type sender func(what, kind string, bytes, times float64, axes ...string)

// activations sends what depends on tokens. A device has D/model columns of its tokens' residual
// stream between the parts of a layer; each part gathers them and scatters its sums back.
func (a Ask) activations(p Plan, s sizes, times float64, send sender) {
	l, along := a.Layer, []string{mesh.Data, mesh.Expert}
	const gathered, stay = "gathering and scattering activations", "adding up sums of weights that stay"
	rows, width := float64(s.tokens), float64(l.Width)
	model, share := float64(s.model), float64(s.kvShare)
	h := float64(l.HeadSize)
	columns := (float64(l.Heads)/model + 2*float64(l.KVHeads)/share) * h

	send(gathered, "all-gather", halfBytes*rows*width, times, mesh.Model)
	send(gathered, "reduce-scatter", halfBytes*rows*width, times, mesh.Model)
	if p.Weights == Stationary {
		all := rows * float64(s.groups)
		send(stay, "reduce-scatter", halfBytes*all*columns, times, along...)
		send(stay, "all-gather", halfBytes*all*float64(l.Heads)/model*h, times, along...)
	}
	if p.Caches == BySequences {
		send("turning heads into sequences", "all-to-all", halfBytes*rows*float64(2*l.Heads+2*l.KVHeads)*h, times, mesh.Model)
	}
	if s.context > 1 {
		keys := float64(s.cached*s.length*s.context) * float64(2*s.kvHeads) * h
		send("gathering keys and values", "all-gather", halfBytes*keys, times, mesh.Context)
	}

	routed := rows
	if s.experts > 1 {
		routed = float64(s.routed)
		send("sending tokens to experts and back", "all-to-all", halfBytes*routed*float64(s.experts)*width/model, 2*times, mesh.Expert)
	}
	send(gathered, "all-gather", halfBytes*routed*width, times, mesh.Model)
	send(gathered, "reduce-scatter", halfBytes*routed*width, times, mesh.Model)
	if p.Weights == Stationary {
		all := float64(s.routed) * float64(p.Mesh.Size(mesh.Data))
		send(stay, "reduce-scatter", halfBytes*all*2*float64(l.Hidden)/model, times, mesh.Data)
		send(stay, "all-gather", halfBytes*all*float64(l.Hidden)/model, times, mesh.Data)
	}
}

// weights sends what depends on weights, before they are used and for their gradients.
func (a Ask) weights(p Plan, s sizes, send sender) {
	attention, experts := a.deviceWeights(s)
	for _, part := range []struct {
		weights float64
		axes    []string
	}{
		{attention, []string{mesh.Data, mesh.Context, mesh.Expert}},
		{experts, []string{mesh.Data, mesh.Context}},
	} {
		bytes := halfBytes * part.weights
		switch {
		case p.Weights == Gathered && a.Phase == Train:
			send("gathering weights", "all-gather", bytes, 2, part.axes...)
			send("adding up gradients", "reduce-scatter", bytes, 1, part.axes...)
		case p.Weights == Gathered:
			send("gathering weights", "all-gather", bytes, 1, part.axes...)
		case p.Weights == Copied && a.Phase == Train:
			send("adding up gradients", "all-reduce", bytes, 1, part.axes...)
		}
	}
}

// deviceWeights are those of a layer that a device multiplies by: of attention, and of its experts.
func (a Ask) deviceWeights(s sizes) (attention, experts float64) {
	all, kv := a.Layer.attention()
	attention = float64(all-kv)/float64(s.model) + float64(kv)/float64(s.kvShare)
	return attention, float64(s.local) * float64(a.Layer.expert()) / float64(s.model)
}

// memory is what a device needs.
func (a Ask) memory(p Plan, s sizes) Memory {
	l := a.Layer
	attention, experts := a.deviceWeights(s)
	hand := attention + experts // of one layer, to multiply by
	ends := 2 * float64(l.Words) * float64(l.Width) / float64(s.model)
	if p.Weights != Copied {
		all := float64(s.groups * s.context)
		attention, experts, ends = attention/all, experts/float64(p.Mesh.Size(mesh.Data, mesh.Context)), ends/all
	}
	layers := float64(l.Layers)
	held := layers*(attention+experts) + ends
	m := Memory{Weights: int64(halfBytes * held)}
	rows, model, h := float64(s.tokens), float64(s.model), float64(l.HeadSize)
	columns := (float64(l.Heads)/model + 2*float64(l.KVHeads)/float64(s.kvShare)) * h
	heads, hidden := float64(l.Heads)/model*h, 3*float64(l.Hidden)/model*float64(l.Chosen)
	if a.Phase == Train {
		m.Training = int64(trainingBytes * held)
		kept := float64(l.Width) / model
		if !p.Recompute { // of every product its inputs, and of attention
			kept = 2*kept + columns + heads + hidden
		}
		m.Activations = int64(halfBytes * layers * rows * kept)
	} else {
		m.Cache = int64(halfBytes * layers * float64(s.cached*s.length) * float64(2*s.kvHeads) * h)
	}
	if p.Weights == Stationary {
		rows *= float64(s.groups)
	}
	working := rows * (float64(l.Width*l.Chosen) + max(columns+heads, hidden))
	if p.Weights == Gathered {
		working += 2 * hand // the next layer's come while one's are used
	}
	m.Working = int64(halfBytes * working)
	return m
}
