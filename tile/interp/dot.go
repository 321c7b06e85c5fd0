package interp

import "matladder/tile"

// dot is the matrix product, summed in the order of the contraction. Products are
// rounded before they are added, so that no machine fuses the two.
func (m *machine) dot(e *tile.Expr, a, b block) block {
	rows, cols := e.Shape[0], e.Shape[1]
	depth := e.Args[0].Shape[1]
	aRow, aCol, bRow, bCol := depth, 1, cols, 1 // strides: a along m and k, b along k and n
	if e.TransA {
		depth = e.Args[0].Shape[0]
		aRow, aCol = 1, rows
	}
	if e.TransB {
		bRow, bCol = 1, depth
	}
	if m.watchDot != nil {
		m.watchDot(m, e, a, b)
	}
	o := newBlock(e.Shape)
	for i := range rows {
		if m.checkContext(); m.err != nil {
			return o
		}
		if a.state != nil || b.state != nil {
			m.dotRowMasked(e, a, b, &o, i, depth)
			continue
		}
		row := o.val[i*cols : (i+1)*cols]
		for k := range depth {
			x := a.val[i*aRow+k*aCol]
			for j := range row {
				row[j] += float64(x * b.val[k*bRow+j*bCol])
			}
		}
	}
	if e.Dtype.IsInteger() {
		for i, x := range o.val {
			o.val[i] = wrap(e.Dtype, int64(x))
		}
	}
	return o
}

// dotRowMasked computes row i where elements may be padding or poison. A product with padding
// along the contraction is left out; other padding stays with its row or column.
func (m *machine) dotRowMasked(e *tile.Expr, a, b block, o *block, i, depth int) {
	rows, cols := e.Shape[0], e.Shape[1]
	aMask, bMask := contraction(e, 0), contraction(e, 1)
	for j := range cols {
		var sum float64
		var st state
		for k := range depth {
			x, y := i*depth+k, k*cols+j
			if e.TransA {
				x = k*rows + i
			}
			if e.TransB {
				y = j*depth + k
			}
			sx, sy := a.at(x), b.at(y)
			if sx&aMask != 0 || sy&bMask != 0 {
				continue
			}
			st |= sx.along(0) | sy.along(1)
			sum += float64(a.val[x] * b.val[y])
		}
		o.val[i*cols+j] = sum
		o.setState(i*cols+j, st)
	}
}

// contraction is the padding bit of operand arg of a Dot along the contraction.
func contraction(dot *tile.Expr, arg int) state {
	dim := 1 - arg
	if arg == 0 && dot.TransA || arg == 1 && dot.TransB {
		dim = arg
	}
	return padBit(dim, 2)
}

// along moves the padding of a matrix, which is along one dimension, to dimension dim.
func (s state) along(dim int) state {
	const either = state(3)
	if s&either == 0 {
		return s
	}
	return s&^either | padBit(dim, 2)
}
