package gemm

// A column computes whole tiles below one another: those of as many panels of a,
// panel words apart, by one panel of b over steps ≥ 1 steps. Each is that of type tile;
// the rows of c follow each other.
//
// What one tile asks for follows what the one before has asked for, from next on, and
// begins there again behind end.
type column[C Sum] func(c *C, ldc, steps int, a, b *uint32, bias *C, next, end uintptr, panels, panel int, accumulate bool)

// columnSteps is the least depth of the tiles of a column. As measured, those of 160
// steps and more gain up to 1 % by it, and those of 128 gain or lose as much.
const columnSteps = 160
