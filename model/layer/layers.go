package layer

import (
	"strings"

	"matladder/internal/known"
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

// Weights is how many a layer has, without its norms and its router.
func (l Layer) Weights() int64 {
	attention, _ := l.attention()
	return attention + int64(l.Experts)*l.expert()
}

// Model is how many weights the model has, embeddings at both ends included.
func (l Layer) Model() int64 {
	return int64(l.Layers)*l.Weights() + 2*int64(l.Words)*int64(l.Width)
}

// FLOPs are those of one layer that a token of a forward pass needs where it sees so many
// keys, whatever the devices compute beyond.
func (l Layer) FLOPs(keys float64) float64 {
	attention, _ := l.attention()
	return 2*float64(attention+int64(l.Chosen)*l.expert()) + 4*keys*float64(l.Heads*l.HeadSize)
}
