package pack

// Sides are how a path packs A and B, in words of KU elements; a step of tiles has as many
// more of them.
type Sides[S Source] struct {
	KU   int
	A, B Packer[S]
}

// InGo are sides of so many rows and columns a panel.
func InGo[S Source](e Encoding[S], mr, nr int) Sides[S] {
	return Sides[S]{e.KU, Go(mr, e), Go(nr, e)}
}

// What tiles have of A and of B: lanes of a panel, and words of a lane in one step.
const (
	TileLanes = 32
	TileWords = 16
)

const wordBytes = 4
