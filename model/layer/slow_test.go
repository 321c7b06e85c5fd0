package layer

import (
	"fmt"
	"math"
	"testing"

	"matladder/machine/mesh"
)

// slow is what a prompt's layer of a dense model takes on a slice of v5e, worked out again
// by formulas alone: rings and lines along two dimensions, products, scores.
type slow struct {
	a    Ask
	peak float64
}

// gather is an all-gather of bytes along a mesh axis that has x of the first dimension and
// y of the second; inner axes have ix and iy of them.
func (s slow) gather(bytes float64, x, y, ix, iy int) float64 {
	seconds, rate := 0., 0.
	for i, n := range [][2]int{{x, ix}, {y, iy}} {
		if n[0] == 1 {
			continue
		}
		if n[0]*n[1] == 16 && s.a.Sides[i] == 16 { // all the way round
			rate += 2 * 43e9 / float64(n[1])
			seconds += float64(n[0]*n[1]) / 2 * 0.5e-6
		} else {
			rate += 43e9 / float64(n[1])
			seconds += float64((n[0]-1)*n[1]) * 0.5e-6
		}
	}
	if rate == 0 {
		return 0
	}
	p := float64(x * y)
	return 4.4e-6 + bytes*(p-1)/p/rate + seconds
}

// whole is a size as the matrix unit of 128 × 128 has it.
func whole(n float64) float64 { return 128 * math.Ceil(n/128) }

func (s slow) work(flops, bytes float64) float64 {
	c, m := flops/s.peak, bytes/attained(s.a.Chip)
	p := s.a.Chip.OverlapExponent.Value
	return math.Pow(math.Pow(c, p)+math.Pow(m, p), 1/p)
}

// TestSearch_Slow enumerates by four loops all ways to lay data and model along a slice,
// and finds for each mesh what Search does, weights copied or gathered.
func TestSearch_Slow(t *testing.T) {
	for _, c := range []struct {
		topology, layer   string
		sequences, length int
	}{
		{"v5e:16x16", "llama3-70b", 256, 2048}, {"v5e:8x16", "llama3-70b", 128, 512}, {"v5e:4x8", "llama3-8b", 40, 1024}, {"v5e:2x4", "llama3-8b", 3, 300},
	} {
		a := ask(t, c.topology, c.layer, Prefill, c.sequences, c.length)
		s, l := slow{a, 197e12}, a.Layer
		best := map[string]float64{}
		for dx := 1; dx <= a.Sides[0]; dx++ {
			for dy := 1; dy <= a.Sides[1]; dy++ {
				if a.Sides[0]%dx != 0 || a.Sides[1]%dy != 0 {
					continue
				}
				mx, my := a.Sides[0]/dx, a.Sides[1]/dy
				data, model := dx*dy, mx*my
				if l.Heads%model != 0 || data > c.sequences {
					continue
				}
				tokens := float64((c.sequences + data - 1) / data * c.length)
				d, f, h, y := float64(l.Width), float64(l.Hidden), float64(l.HeadSize), float64(model)
				q, kv := float64(l.Heads)*h/y, 2*float64(l.KVHeads)*h/math.Min(y, float64(l.KVHeads))
				seconds := 0.
				for _, p := range [][2]float64{{d, q + kv}, {q, d}, {d, 2 * f / y}, {f / y, d}} {
					seconds += s.work(2*tokens*whole(p[0])*whole(p[1]), 2*(p[0]*p[1]+tokens*(p[0]+p[1])))
				}
				seconds += s.work(4*tokens*q*float64(c.length+1)/2, 2*(tokens*kv+2*tokens*q))
				seconds += 4 * s.gather(2*tokens*d, mx, my, 1, 1)
				for _, w := range []Weights{Copied, Gathered} {
					if w == Gathered {
						if data == 1 {
							continue
						}
						// Attention's and the rest of the weights, each an exchange with its own hops.
						seconds += s.gather(2*(d*(q+kv)+q*d), dx, dy, mx, my) + s.gather(2*3*d*f/y, dx, dy, mx, my)
					}
					name := fmt.Sprintf("data=%d,model=%d %s", data, model, w)
					if old, ok := best[name]; !ok || seconds < old {
						best[name] = seconds
					}
				}
			}
		}
		seen := 0
		for name, want := range best {
			var data, model int
			var w Weights
			fmt.Sscanf(name, "data=%d,model=%d %s", &data, &model, &w)
			f := search(t, a, fmt.Sprintf("data=%d,model=%d", data, model))
			for _, p := range f.Plans {
				if p.Weights == w && p.Caches == ByHeads {
					seen++
					if !near(p.Time.Seconds, want, 1e-6) || p.Time.Least > p.Time.Seconds || p.Time.Most < p.Time.Seconds {
						t.Errorf("%s %s: %v, want %g", c.topology, name, p.Time, want)
					}
				}
			}
		}
		if seen != len(best) || seen < 3 {
			t.Errorf("%s: %d of %d ways", c.topology, seen, len(best))
		}
		// The first of all is one of those that fit, and none that fits is faster.
		f := search(t, a, "")
		meshes := map[string]bool{}
		for _, p := range f.Plans {
			meshes[p.Mesh.String()] = true
			if p.Fits && p.Time.Seconds < f.Plans[0].Time.Seconds*(1-1e-9) || p.Fits && !f.Plans[0].Fits {
				t.Errorf("%s: %s is faster than %s", c.topology, p, f.Plans[0])
			}
			if p.Mesh.Devices() != a.Devices() {
				t.Errorf("%s has %d devices", p.Mesh, p.Mesh.Devices())
			}
		}
		want := map[string]bool{}
		for d := 1; d <= a.Devices(); d++ {
			for x := 1; d*x <= a.Devices(); x++ {
				y := a.Devices() / d / x
				if d*x*y == a.Devices() && l.Heads%y == 0 && d <= c.sequences && x <= c.length {
					want[mesh.Mesh{{Name: "data", Size: d}, {Name: "context", Size: x}, {Name: "model", Size: y}}.String()] = true
				}
			}
		}
		if len(meshes) != len(want) || len(meshes) != len(f.Plans) {
			t.Errorf("%s: %d meshes, want %d", c.topology, len(meshes), len(want))
		}
	}
}
