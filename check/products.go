package check

import "math"

// ProductsOff tells the reference that a device multiplies floats less exactly than
// their dtype: each product is off by up to roundoff times itself before it is
// added. 0, the default, is for products that are as exact as the accumulator.
// Bounds of later calls of Verify count it.
func (r *Reference) ProductsOff(roundoff float64) {
	r.products = roundoff
	for _, part := range r.parts {
		part.ProductsOff(roundoff)
	}
}

// multiplied adds the error of products to a bound. In a combination they are noise:
// k of them, of about the same size.
func (b bound) multiplied(roundoff float64) bound {
	if !b.exact {
		b.acc += roundoff
		b.rms += roundoff / math.Sqrt(b.k)
	}
	return b
}
