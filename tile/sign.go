package tile

// NeverNegative reports whether x is known to be at least 0 in every program.
func NeverNegative(x IndexExpr) bool {
	switch x := x.(type) {
	case Const:
		return x >= 0
	case *Axis:
		return true
	case Joined:
		if x.Op == Maximum {
			return NeverNegative(x.X) || NeverNegative(x.Y)
		}
		return NeverNegative(x.X) && NeverNegative(x.Y)
	case Scaled:
		return x.Op == Remainder || (x.Op == Quotient || x.By >= 0) && NeverNegative(x.X)
	}
	return false
}
