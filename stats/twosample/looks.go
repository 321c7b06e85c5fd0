package twosample

// A Look is a moment at which turns are compared, and there may be more of them after it.
type Look struct {
	Pairs int     // of turns, since the first
	Share float64 // of the errors that all looks may make together: those of this one
}

// Looks are the moments at which turns are compared until they tell: after least pairs,
// after twice as many, and so on, up to most. Stopping as soon as the data please would
// find a difference sooner or later where there is none. So the moments are fixed
// beforehand and share the rate of errors between them (Bonferroni's bound, which holds
// whatever decides between going on and stopping): half of it is the first's, on a quiet
// machine the only one, and the others have equal parts of the rest.
func Looks(least, most int) []Look {
	looks := []Look{{Pairs: least, Share: 1}}
	for n := least; n < most; {
		n = min(2*n, most)
		looks = append(looks, Look{Pairs: n})
	}
	if later := looks[1:]; len(later) > 0 {
		looks[0].Share = 0.5
		for i := range later {
			later[i].Share = 0.5 / float64(len(later))
		}
	}
	return looks
}
