package tile

// Window follows which block of its array an input or output shows, from one
// program to the next. A device moves a block between main and fast memory where
// the window moves, and nothing while it stays.
type Window struct {
	Ref   *Ref
	Index []int // the block along each dimension, after the first Move

	shown bool
}

// NewWindow returns a window that has shown nothing yet.
func NewWindow(r *Ref) *Window { return &Window{Ref: r, Index: make([]int, len(r.Index))} }

// Move goes on to the program of env and reports whether the block is another
// one than before. The first block always is.
func (w *Window) Move(env Env) bool {
	moved := !w.shown
	for d, x := range w.Ref.Index {
		at := Eval(x, env)
		moved = moved || at != w.Index[d]
		w.Index[d] = at
	}
	w.shown = true
	return moved
}

// Bytes returns the bytes of the block that are inside the array.
func (w *Window) Bytes() int64 {
	n := int64(1)
	for d, at := range w.Index {
		n *= int64(w.Ref.Inside(d, at))
	}
	return w.Ref.Dtype.Bytes(n)
}
