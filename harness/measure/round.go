package measure

import (
	"context"
	"math/rand/v2"
	"slices"

	"matladder/results"
)

// Round has a field take turns, once each, in an order that rng draws, so that drift of
// the machine touches all alike. It returns what became of the machine meanwhile. An error of
// a turn ends the round.
func Round[T any](ctx context.Context, w *Watch, rng *rand.Rand, field []T, turn func(place int, one T) error) (results.Conditions, error) {
	span := w.Begin(ctx)
	for place, one := range Shuffled(rng, field) {
		if err := turn(place, one); err != nil {
			return results.Conditions{}, err
		}
	}
	return span.End(ctx), nil
}

// Shuffled is the order of the next round.
func Shuffled[T any](rng *rand.Rand, field []T) []T {
	mixed := slices.Clone(field)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}
