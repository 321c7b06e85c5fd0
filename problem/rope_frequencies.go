package problem

import "math"

// Llama 3.1's scaling: frequencies whose waves are longer than the context trained on divided
// by the low factor are divided by the factor, those shorter than it divided by the high one
// stay, and between them both are mixed.
const (
	llama3Factor  = 8
	llama3Low     = 1
	llama3High    = 4
	llama3Context = 8192
)

// YaRN's bounds: pairs that turn more often than fast within the context trained on keep
// their frequency, and those that turn less often than slow have it divided by the factor.
const (
	yarnFast = 32
	yarnSlow = 1
)

// Frequency is by how much pair d turns from one position to the next, in radians.
func (p Rope) Frequency(d int) float64 {
	base := p.Base
	if base == 0 {
		base = 10000
	}
	turned := float64(p.Turned())
	f := math.Pow(base, -2*float64(d)/turned)
	switch p.Scaling {
	case Llama3:
		waves := llama3Context * f / (2 * math.Pi) // of the pair, in the context trained on
		keep := min(max((waves-llama3Low)/(llama3High-llama3Low), 0), 1)
		return f * (keep + (1-keep)/llama3Factor)
	case YaRN:
		// The pair, not a whole number, that turns so often within the context.
		pair := func(turns float64) float64 {
			return turned * math.Log(float64(p.Context)/(turns*2*math.Pi)) / (2 * math.Log(base))
		}
		first, last := max(math.Floor(pair(yarnFast)), 0), min(math.Ceil(pair(yarnSlow)), turned-1)
		if first == last {
			last += 0.001
		}
		divided := min(max((float64(d)-first)/(last-first), 0), 1)
		return f * (1 - divided + divided/float64(p.Longer))
	}
	return f
}

// Magnitude is what cos and sin are multiplied by: YaRN makes scores a little sharper in
// longer contexts.
func (p Rope) Magnitude() float64 {
	if p.Scaling == YaRN {
		return 0.1*math.Log(float64(p.Longer)) + 1
	}
	return 1
}

// CosSin are the numbers that pair d of row i turns by.
func (p Rope) CosSin(i, d int) (cos, sin float64) {
	angle, m := float64(p.At+i)*p.Frequency(d), p.Magnitude()
	return m * math.Cos(angle), m * math.Sin(angle)
}

// Pair is the pair that column j, one of those that are turned, is of.
func (p Rope) Pair(j int) int {
	if p.Interleaved {
		return j / 2
	}
	return j % (p.Turned() / 2)
}

// Columns are those of pair d.
func (p Rope) Columns(d int) (first, second int) {
	if p.Interleaved {
		return 2 * d, 2*d + 1
	}
	return d, d + p.Turned()/2
}
