package layer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"matladder/machine/mesh"
	"matladder/model"
)

func ask(t *testing.T, topology, name string, phase Phase, sequences, length int) Ask {
	t.Helper()
	a := Ask{Phase: phase, Sequences: sequences, Length: length}
	var err error
	if a.Chip, a.Sides, err = model.FindSlice(topology); err != nil {
		t.Fatal(err)
	}
	if a.Layer, err = Find(name); err != nil {
		t.Fatal(err)
	}
	return a
}

func search(t *testing.T, a Ask, on string) Found {
	t.Helper()
	var only mesh.Mesh
	var err error
	if on != "" {
		if only, err = mesh.Parse(on, mesh.Data, mesh.Context, mesh.Expert, mesh.Model); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Search(t.Context(), a, only)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func near(got, want, off float64) bool { return math.Abs(got-want) <= off*math.Abs(want) }

// weights is how many the model of a layer has, embeddings at both ends included, without norms
// and routers.
func weights(l Layer) int64 {
	attention, _ := l.attention()
	return int64(l.Layers)*(attention+int64(l.Experts)*l.expert()) + 2*int64(l.Words)*int64(l.Width)
}

// TestLayer_Weights holds the sizes to the numbers of parameters that the models are
// published with.
func TestLayer_Weights(t *testing.T) {
	for name, want := range map[string]float64{"llama3-8b": 8.03e9, "llama3-70b": 70.55e9, "llama3-405b": 405.8e9, "mixtral-8x7b": 46.7e9, "mixtral-8x22b": 140.6e9} {
		l, err := Find(name)
		if err != nil || !near(float64(weights(l)), want, 0.002) {
			t.Errorf("%s: %d weights, %v; want %g", name, weights(l), err, want)
		}
	}
	l, _ := Find("llama3-70b")
	if got := l.FLOPs(0) * float64(l.Layers); !near(got, 2*68.45e9, 0.001) { // two a weight, but for embeddings
		t.Errorf("%g FLOPs a token", got)
	}
}

// TestMemory holds memory to what the book works out for Llama 3 70B: weights of 140 GB,
// a cache of 320 KiB a token, ten bytes a weight in training beside its gradients of two,
// and that 16 chips of v5e serve 43 sequences of 8192 tokens (jax-ml/scaling-book,
// applied-inference.md, applied-training.md).
func TestMemory(t *testing.T) {
	f := search(t, ask(t, "v5e:4x4", "llama3-70b", Decode, 43, 8192), "model=16")
	if len(f.Plans) != 2 {
		t.Fatalf("%d ways", len(f.Plans))
	}
	for _, p := range f.Plans {
		cache := 43 * 8192 * 320 * 1024 / 16.
		switch p.Caches {
		case ByHeads:
			cache *= 2 // 16 devices for 8 heads of keys
		case BySequences:
			cache *= 22 * 2 / 43. // of 43 sequences one device of two has 22
		}
		if got := float64(p.Memory.Cache); got != cache {
			t.Errorf("%s: cache of %g, want %g", p, got, cache)
		}
		if weights := 16 * float64(p.Memory.Weights); p.Caches == BySequences && !near(weights, 2*70.55e9, 0.001) {
			t.Errorf("%s: weights of %g", p, weights)
		}
		if p.Fits != (p.Caches == BySequences) {
			t.Errorf("%s: %d bytes fit: %v", p, p.Memory.Total(), p.Fits)
		}
	}
	for _, p := range search(t, ask(t, "v5p:8x8x8", "llama3-70b", Train, 1024, 4096), "data=128,model=4").Plans {
		m := p.Memory
		if p.Weights == Gathered && (!near(float64(m.Weights+m.Training), 12*70.55e9/512, 0.001) || float64(m.Working) < 2*2*855.6e6/4) {
			t.Errorf("%s: %+v", p, m)
		}
		if kept := 2 * 80 * 8192 * 4096 * 8. / 4; p.Recompute && p.Weights == Gathered && float64(m.Activations) != kept {
			t.Errorf("%s: keeps %d bytes, want %g", p, m.Activations, kept)
		}
	}
}

// TestRules: a layer is bound by the wire where the rules of scaling-book's training.md
// say so. On v5p, C/W is 2550 along one ring and 850 along three; weights that are gathered
// take as long as the products of C/W tokens, activations as long as those of ⅔·C/W
// hidden columns: two products for gate and up where the book has one.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		topology, mesh  string
		tokens          int // of a device
		weights, hidden float64
	}{
		{"v5p:16x16x16", "data=4096", 900, 850, 0},
		{"v5p:16x16x16", "data=4096", 800, 850, 0},
		{"v5p:16x16x16", "data=256,model=16", 1300, 1275, 1700},
		{"v5p:16x16x16", "data=256,model=16", 1250, 1275, 1700},
		{"v5e:16x16", "data=16,model=16", 2200, 2189, 1459},
		{"v5e:16x16", "data=16,model=16", 2100, 2189, 1459},
	} {
		a := ask(t, c.topology, "llama3-70b", Prefill, 0, c.tokens)
		m, err := mesh.Parse(c.mesh)
		if err != nil {
			t.Fatal(err)
		}
		a.Sequences = m.Size(mesh.Data)
		a.Chip.HopSeconds.Value, a.Chip.CollectiveSeconds.Value = 0, 0
		a.Chip.LinkBytesPerSecond.Value = map[string]float64{"v5p": 90e9, "v5e": 45e9}[c.topology[:3]] // the book's
		f := search(t, a, c.mesh)
		i := slices.IndexFunc(f.Plans, func(p Plan) bool { return p.Weights == Gathered && p.Caches == ByHeads })
		p := f.Plans[i]
		hidden := 0.
		if n := m.Size(mesh.Model); n > 1 {
			hidden = 28672 / float64(n)
		}
		products := a.products(p, a.sizesOf(p), 1)
		mlp := (products[2].flops + products[3].flops) / a.Chip.PeakAt("bfloat16", "").Value
		all := mlp + (products[0].flops+products[1].flops)/a.Chip.PeakAt("bfloat16", "").Value
		weights, activations := 0., 0.
		for _, x := range p.Exchanges {
			if x.What == "gathering weights" {
				weights += x.Wire.Seconds
			} else {
				activations += x.Wire.Seconds / 2 // as much again for attention
			}
		}
		rings := float64(m.Size(mesh.Data)-1) / float64(m.Size(mesh.Data)) // (P−1)/P, which the book leaves out
		if bound := weights/rings > all; bound != (float64(c.tokens) < c.weights) {
			t.Errorf("%s %s, %d tokens: weights %g, products %g", c.topology, c.mesh, c.tokens, weights/rings, all)
		}
		lines := strings.Join(f.rules(p), " ")
		if !strings.Contains(lines, "C/W = "+itoa(c.weights)+" rows") {
			t.Errorf("%s %s: %s", c.topology, c.mesh, lines)
		}
		if hidden == 0 {
			continue
		}
		ring := float64(m.Size(mesh.Model)-1) / float64(m.Size(mesh.Model))
		if got, want := activations/ring/mlp, c.hidden/hidden; !near(got, want, 0.001) {
			t.Errorf("%s %s: activations take %g of the products, want %g", c.topology, c.mesh, got, want)
		}
		if !strings.Contains(lines, "⅔·C/W = "+itoa(c.hidden)+" hidden") {
			t.Errorf("%s %s: %s", c.topology, c.mesh, lines)
		}
	}
}

func itoa(v float64) string { return fmt.Sprintf("%.0f", v) }

// TestBook: for Llama 3 70B with a batch of 4 million tokens on a whole pod of v5p the book
// finds that weights cannot be spread over all devices alone, and 4 to 8 devices along
// model are right: 2048-way by its formula, 4-way model (applied-training.md).
func TestBook(t *testing.T) {
	f := search(t, ask(t, "v5p", "llama3-70b", Train, 1024, 4096), "")
	best := map[int]float64{}
	for _, p := range f.Plans {
		if model := p.Mesh.Size(mesh.Model); p.Fits && (best[model] == 0 || p.Time.Seconds < best[model]) {
			best[model] = p.Time.Seconds
		}
	}
	if !(best[8] < best[1] && best[4] < best[1] && best[8] < best[32] && best[4] < 1.1*best[8]) {
		t.Errorf("best by devices along model: %v", best)
	}
	if p := f.Plans[0]; p.Weights != Gathered || p.Bound != BoundMXU {
		t.Errorf("%s, bound by %s", p, p.Bound)
	}
}

func TestSearch_Refuses(t *testing.T) {
	for _, c := range []struct {
		topology, layer, mesh string
		phase                 Phase
		sequences, length     int
		want                  string
	}{
		{"v5e:4x4", "llama3-70b", "model=8", Decode, 8, 100, "has 8 devices, the slice 4x4 of TPU v5e has 16"},
		{"v5e:4x4", "llama3-70b", "context=4,model=4", Decode, 8, 100, "splits nothing over axis context"},
		{"v5e:4x4", "llama3-70b", "expert=4,model=4", Train, 8, 100, "splits nothing over axis expert"},
		{"v5e:4x4", "mixtral-8x22b", "expert=16", Train, 16, 100, "has to divide 8 experts"},
		{"v5e:16x16", "mixtral-8x7b", "", Decode, 1, 100, "no mesh of 256 devices"},
		{"v5e:4x4", "llama3-70b", "", Train, 0, 100, "want at least one of each"},
		{"v5e:4x4", "llama3-70b", "", Train, 1 << 30, 1 << 30, "more than a search takes"},
	} {
		var only mesh.Mesh
		if c.mesh != "" {
			var err error
			if only, err = mesh.Parse(c.mesh, mesh.Data, mesh.Context, mesh.Expert, mesh.Model); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Search(t.Context(), ask(t, c.topology, c.layer, c.phase, c.sequences, c.length), only); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s %s: %v, want %q", c.topology, c.layer, c.mesh, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Search(ctx, ask(t, "v5e", "llama3-8b", Train, 256, 128), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
