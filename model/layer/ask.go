package layer

import (
	"fmt"

	"matladder/internal/known"
	"matladder/machine"
	"matladder/machine/mesh"
	"matladder/model"
)

// A Phase is what the layer does.
type Phase string

// The phases.
const (
	Train   Phase = "train"   // forward and backward
	Prefill Phase = "prefill" // forward, prompts
	Decode  Phase = "decode"  // forward, one new token of each sequence
)

// Phases are all of them.
var Phases = []Phase{Train, Prefill, Decode}

// ParsePhase reads a phase.
func ParsePhase(text string) (Phase, error) {
	return known.Find("phase", text, Phases, func(p Phase) string { return string(p) })
}

// Ask is what is searched for: a layer, what it does, and on which slice of a pod.
type Ask struct {
	Layer     Layer
	Phase     Phase
	Sequences int // of the batch
	Length    int // tokens of each; of those that decode, the keys in the cache
	Chip      machine.Device
	Sides     []int // of the slice, as model.FindSlice returns them
}

// Tokens are those that go through the layer together.
func (a Ask) Tokens() int {
	if a.Phase == Decode {
		return a.Sequences
	}
	return a.Sequences * a.Length
}

// Slice is its name.
func (a Ask) Slice() string { return model.Placement{Chips: a.Sides}.Slice() }

// Devices is how many the slice has.
func (a Ask) Devices() int {
	n := max(1, a.Chip.DevicesPerChip)
	for _, side := range a.Sides {
		n *= side
	}
	return n
}

// keys is how many a token sees on average.
func (a Ask) keys() float64 {
	if a.Phase == Decode {
		return float64(a.Length)
	}
	return float64(a.Length+1) / 2
}

// passes are how often the work of a forward pass is done. The backward pass multiplies
// twice for each product, once for the gradient of each operand; attention's backward pass
// computes the scores again, half a pass more.
func (a Ask) passes(recompute bool) (products, attention, exchanges float64) {
	if a.Phase != Train {
		return 1, 1, 1
	}
	products, attention, exchanges = 3, 3.5, 2
	if recompute {
		products, attention, exchanges = products+1, attention+1, exchanges+1
	}
	return products, attention, exchanges
}

// axes are the names that a mesh for it has, outermost first.
func (a Ask) axes() []string {
	axes := []string{mesh.Data}
	if a.Phase != Decode {
		axes = append(axes, mesh.Context)
	}
	if a.Layer.Experts > 1 {
		axes = append(axes, mesh.Expert)
	}
	return append(axes, mesh.Model)
}

// Limits of what a search is asked for: beyond what anybody trains.
const (
	maxTokens = 1 << 40
	maxLength = 1 << 30
)

// Validate says what makes no sense.
func (a Ask) Validate() error {
	switch {
	case a.Sequences < 1 || a.Length < 1:
		return fmt.Errorf("%d sequences of %d tokens: want at least one of each", a.Sequences, a.Length)
	case a.Length > maxLength || a.Sequences > maxTokens/a.Length:
		return fmt.Errorf("%d sequences of %d tokens are more than a search takes", a.Sequences, a.Length)
	}
	for _, f := range []struct {
		name string
		machine.Figure
	}{
		{"peak of bfloat16", a.Chip.PeakAt("bfloat16", "")}, {"bandwidth", a.Chip.BandwidthBytesPerSecond},
		{"memory", a.Chip.MemoryBytes}, {"overlap exponent", a.Chip.OverlapExponent},
	} {
		if !f.Known() {
			return fmt.Errorf("%s: no %s is known", a.Chip.CommonName(), f.name)
		}
	}
	return nil
}
