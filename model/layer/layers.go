package layer

import (
	"fmt"
	"strings"

	"matladder/internal/each"
	"matladder/internal/known"
	"matladder/machine"
	"matladder/machine/mesh"
	"matladder/model"
)

// Layer has the sizes of one layer, and how many of them a model has.
type Layer struct {
	Name     string // as Find reads it
	Title    string
	Width    int // of the residual stream, D
	Hidden   int // of the feed-forward part or of one expert, F; gate and up are two of it
	Heads    int // of queries, N
	KVHeads  int // K
	HeadSize int // H
	Experts  int // 1 for a dense layer
	Chosen   int // experts that a token goes to
	Layers   int
	Words    int // in the vocabulary
	Source   string
}

// All are the layers known. Another is a line here: all that search, command and words know
// of a model follows from its sizes.
var All = []Layer{
	{"llama3-8b", "Llama 3 8B", 4096, 14336, 32, 8, 128, 1, 1, 32, 128256, "config.json of meta-llama/Meta-Llama-3-8B"},
	{"llama3-70b", "Llama 3 70B", 8192, 28672, 64, 8, 128, 1, 1, 80, 128256, "config.json of meta-llama/Meta-Llama-3-70B"},
	{"llama3-405b", "Llama 3.1 405B", 16384, 53248, 128, 8, 128, 1, 1, 126, 128256, "config.json of meta-llama/Llama-3.1-405B"},
	{"mixtral-8x7b", "Mixtral 8×7B", 4096, 14336, 32, 8, 128, 8, 2, 32, 32000, "config.json of mistralai/Mixtral-8x7B-v0.1"},
	{"mixtral-8x22b", "Mixtral 8×22B", 6144, 16384, 48, 8, 128, 8, 2, 56, 32000, "config.json of mistralai/Mixtral-8x22B-v0.1"},
}

// Find returns the layer of a name.
func Find(name string) (Layer, error) {
	return known.Find("layer", strings.ToLower(name), All, func(l Layer) string { return l.Name })
}

// attention is how many weights the attention of a layer has; of them, those of keys and values.
func (l Layer) attention() (all, kv int64) {
	d, h := int64(l.Width), int64(l.HeadSize)
	kv = 2 * d * int64(l.KVHeads) * h
	return 2*d*int64(l.Heads)*h + kv, kv
}

// expert is how many weights one expert has: gate, up and down.
func (l Layer) expert() int64 { return 3 * int64(l.Width) * int64(l.Hidden) }

// FLOPs are those of one layer that a token of a forward pass needs where it sees so many
// keys, whatever the devices compute beyond.
func (l Layer) FLOPs(keys float64) float64 {
	attention, _ := l.attention()
	return 2*float64(attention+int64(l.Chosen)*l.expert()) + 4*keys*float64(l.Heads*l.HeadSize)
}

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
	return max(1, a.Chip.DevicesPerChip) * each.Product(a.Sides)
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
