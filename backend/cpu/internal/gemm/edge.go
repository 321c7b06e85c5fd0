package gemm

// An edge computes rows×cols sums, of any number of rows ≥ 1 and 1 ≤ cols ≤ edgeCols,
// over steps ≥ 1 steps of the panels of a, panel words apart, and one panel of b: the
// loop at type tile for panel after panel of a, without a bias.
//
// Meanwhile it asks for some of the memory from next on, as a tile does. Where there are few
// columns, sums are kept in parts like those of tiles, but that the last step is not part of a
// turn.
type edge[C Sum] func(c *C, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)

// edgeCols is the most columns of an edge: with more, tiles are as fast.
const edgeCols = 4

// isEdge tells whether an edge computes the last columns of c, one or more.
func (k *kernel[C]) isEdge(cols int) bool { return k.edge != nil && cols <= edgeCols }
