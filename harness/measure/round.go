package measure

import (
	"context"
	"math/rand/v2"
	"slices"

	"matladder/results"
)

// Round has a field take turns, once each, in an order that rng draws, so that drift of
// the machine touches all alike. What became of the machine meanwhile is written into
// the rows of all turns. An error of a turn ends the round without rows.
func Round[T any](ctx context.Context, w *Watch, rng *rand.Rand, field []T, turn func(place int, one T) ([]results.Record, error)) ([]results.Record, error) {
	var rows []results.Record
	span := w.Begin(ctx)
	for place, one := range Shuffled(rng, field) {
		some, err := turn(place, one)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	span.End(ctx, rows)
	return rows, nil
}

// Shuffled is the order of the next round.
func Shuffled[T any](rng *rand.Rand, field []T) []T {
	mixed := slices.Clone(field)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}
