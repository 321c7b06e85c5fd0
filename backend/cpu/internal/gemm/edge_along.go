package gemm

import (
	"sync"
	"unsafe"
)

// alongSteps and alongRows are how many steps, and rows of a, an edge along rows goes through at
// once; fewer rows than the kernel takes, if they are left, go with those before.
const alongSteps, alongRows = 1024, 256

const alongSums = alongRows + dotsColumns - 1

// edgeWork is the memory of edgeAlong: columns of b, and columns of sums.
type edgeWork struct {
	b    [edgeCols][alongSteps]uint32
	sums [edgeCols][alongSums]uint32
}

var edgeWorks = sync.Pool{New: func() any { return new(edgeWork) }}

// edgeAlong is an edge for rows i0 … i1-1 of an a that is not packed: each sum is the dot product
// of a row as it lies and a column of b, which is copied out of its panel first. It returns how
// many steps it has done: all whole vectors of them, or none where there are fewer than four
// rows. The caller does the rest.
func (x *block[C]) edgeAlong(i0, i1, j, cols, s, steps int, b *uint32, accumulate bool) (done int) {
	if i1-i0 < dotsColumns {
		return 0
	}
	x.kernel.spoil()
	work := edgeWorks.Get().(*edgeWork)
	defer edgeWorks.Put(work)
	for whole := steps / x.dots.lanes * x.dots.lanes; done < whole; {
		run := min(alongSteps, whole-done)
		work.copyColumns(offset(b, done*x.nr*wordBytes), x.nr, run, cols)
		for i := i0; i < i1; {
			rows := i1 - i
			if rows > alongSums {
				rows = alongRows
			}
			x.edgeSums(work, offset(x.a.at(0, s+done), i*x.a.row), rows, cols, run)
			for row := range rows {
				c := x.c[(i+row)*x.ldc+j:][:cols]
				for col := range c {
					sum := *(*C)(unsafe.Pointer(&work.sums[col][row]))
					if accumulate || done > 0 {
						sum += c[col]
					}
					c[col] = sum
				}
			}
			i += rows
		}
		done += run
	}
	return done
}

// copyColumns copies the first columns of some steps of a panel, nr words wide.
func (w *edgeWork) copyColumns(panel *uint32, nr, steps, cols int) {
	words := span(panel, (steps-1)*nr+cols)
	for col := range cols {
		column := w.b[col][:steps]
		for l := range column {
			column[l] = words[l*nr+col]
		}
	}
}

// edgeSums multiplies the columns by so many rows, four or more. If they are no whole number of
// fours, the last four rows are one turn more, which repeats some.
func (x *block[C]) edgeSums(w *edgeWork, a *uint32, rows, cols, steps int) {
	dots := func(row, turns int) {
		for col := 0; col < cols; col += x.dots.rows {
			x.dots.run((*C)(unsafe.Pointer(&w.sums[col][row])), alongSums, &w.b[col][0], alongSteps*wordBytes, unsafe.Pointer(offset(a, row*x.a.row)), x.a.row,
				steps/x.dots.lanes, min(x.dots.rows, cols-col), turns, dotsColumns*x.a.row, false)
		}
	}
	dots(0, rows/dotsColumns)
	if rows%dotsColumns > 0 {
		dots(rows-dotsColumns, 1)
	}
}

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

// mostEdge is the most last columns of c that an edge computes; 0 where there is none.
func (k *kernel[C]) mostEdge() int {
	if k.edge == nil {
		return 0
	}
	return edgeCols
}

// isEdge tells whether an edge computes the last columns of c, one or more.
func (k *kernel[C]) isEdge(cols int) bool { return cols <= k.mostEdge() }
