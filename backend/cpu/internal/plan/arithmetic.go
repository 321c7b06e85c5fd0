package plan

// GCD is the greatest common divisor.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// LCM is the least common multiple.
func LCM(a, b int) int { return a / GCD(a, b) * b }
