package harness

import (
	"matladder/backend"
	"matladder/problem"
	"matladder/results"
)

// A Peer is a library that computes the same, measured beside the kernels: in the same
// rounds, on the same inputs, verified in the same way. Its rows bear its name
// as kernel and as backend.
type Peer interface {
	backend.Backend // and a Solver, or a BaselinePredictor
	// Supports returns why the library does not compute p, or nil.
	Supports(p problem.Problem) error
	// Variants lists the forms in which it computes p.
	Variants(p problem.Problem) []string
}

// Compare adds the points of peers to each group. What a peer does not support is
// a point with a status.
func (s Sweep) Compare(peers ...Peer) {
	for i := range s.Groups {
		g := &s.Groups[i]
		for _, p := range g.problems() {
			for _, peer := range peers {
				g.Points = append(g.Points, peerPoints(peer, p, s.Params)...)
			}
		}
	}
}

func peerPoints(peer Peer, p problem.Problem, params backend.Params) []Point {
	point := Point{Contender: Library{Peer: peer}, Problem: p, Params: vendorParams(peer.Device(), params)}
	if err := peer.Supports(p); err != nil {
		point.Status, point.Reason = results.Unsupported, err.Error()
		return []Point{point}
	}
	var list []Point
	for _, variant := range peer.Variants(p) {
		point.Variant = variant
		list = append(list, point)
	}
	return list
}
