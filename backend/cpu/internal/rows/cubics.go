package rows

import "math"

// Cubics is a function as cubics that follow each other in equal steps: the first
// begins at Lo, and of x element c of a cubic is the factor of t^c, where t is the
// distance from its beginning in steps.
type Cubics struct {
	Table        [][4]float64
	Lo, PerStep  float64
	Last         float64 // larger numbers count as this one, of the last cubic
	Floor, Least float64 // smaller numbers, and those closer to 0, are for others
}

// covers reports whether x is not for others, as NaN is.
func (c *Cubics) covers(x float64) bool { return x >= c.Floor && math.Abs(x) >= c.Least }

// at is the function of a number that c covers.
func (c *Cubics) at(x float64) float64 {
	t := (min(max(x, c.Lo), c.Last) - c.Lo) * c.PerStep
	i := int32(t)
	f := &c.Table[i]
	t -= float64(i)
	// The conversions forbid one rounding for two operations.
	return f[0] + float64(t*(f[1]+float64(t*(f[2]+float64(t*f[3])))))
}

// cubics is the loop in Go.
func cubics(dst, x []float32, c *Cubics) int {
	x = x[:len(dst)]
	for i := range dst {
		v := float64(x[i])
		if !c.covers(v) {
			return i
		}
		dst[i] = float32(c.at(v))
	}
	return len(dst)
}
