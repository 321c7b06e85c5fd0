package tune

import (
	"math"

	"matladder/tile"
)

// runnerUp is the fastest beside the winner, and how far it is behind.
func runnerUp(winner tile.Blocks, tried map[tile.Blocks]float64) (second tile.Blocks, behind float64) {
	for b, ratio := range tried {
		if d := round(ratio - 1); b != winner && (second == (tile.Blocks{}) || d < behind || d == behind && b.String() < second.String()) {
			second, behind = b, d
		}
	}
	return second, behind
}

// round leaves four digits after the point: more is noise.
func round(ratio float64) float64 { return math.Round(ratio*1e4) / 1e4 }
