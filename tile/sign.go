package tile

// NeverNegative reports whether x is known to be at least 0 in every program.
func NeverNegative(x IndexExpr) bool {
	switch x := x.(type) {
	case Const:
		return x >= 0
	case *Axis, Remainder:
		return true
	case Sum:
		return NeverNegative(x.X) && NeverNegative(x.Y)
	case Product:
		return x.By >= 0 && NeverNegative(x.X)
	case Quotient:
		return NeverNegative(x.X)
	case Minimum:
		return NeverNegative(x.X) && NeverNegative(x.Y)
	case Maximum:
		return NeverNegative(x.X) || NeverNegative(x.Y)
	}
	return false
}
