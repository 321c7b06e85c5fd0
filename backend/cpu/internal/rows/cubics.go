package rows

// Cubics is a function as cubics that follow each other in equal steps: the first
// begins at Lo, and of x element c of a cubic is the factor of t^c, where t is the
// distance from its beginning in steps.
type Cubics struct {
	Table       [][4]float64
	Lo, PerStep float64 // smaller numbers than Lo count as it
	Last        float64 // larger numbers count as this one, of the last cubic
}

// at is the function of a number.
func (c *Cubics) at(x float64) float64 {
	t := (min(max(x, c.Lo), c.Last) - c.Lo) * c.PerStep
	i := int32(t)
	f := &c.Table[i]
	t -= float64(i)
	// The conversions forbid one rounding for two operations.
	return f[0] + float64(t*(f[1]+float64(t*(f[2]+float64(t*f[3])))))
}

// cubics is the loop in Go.
func cubics(dst, x []float32, c *Cubics) {
	for i, v := range x[:len(dst)] {
		if dst[i] = v; v == v {
			dst[i] = float32(c.at(float64(v)))
		}
	}
}
