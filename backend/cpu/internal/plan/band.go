package plan

// A Band is the columns in which a strip of rows of some refs has more than one number for
// each row. What attention masks has one: beyond a diagonal or a window all scores of a row
// are the same, its largest score needs one of them, their powers are equal, too, and those
// that are zero add nothing to sums and products. So steps go over the band, and one column
// beside it, which tells what number stands in all others.
type Band struct {
	Of   []bool // by ref, whether it is of those
	Cols int
	Span Span
	Unit int // columns: the band begins and ends at multiples, or with the block
}

// Span says from which column to before which one a row has more than one number; none if
// to is not behind from.
type Span func(f *Frame, row int) (from, to int)

// Seen is the band of the strip that is being computed: steps go over columns From … To-1,
// and those outside hold what column Beside holds. Band is nil where there is none.
type Seen struct {
	Band     *Band
	From, To int // columns
	Beside   int // one of them, which tells what stands in those that are not
}

// Columns is which of the columns of ref r, or of none at -1, a step goes over.
func (f *Frame) Columns(r, all int) (from, to int) {
	if b := f.Seen.Band; b != nil && r >= 0 && b.Of[r] {
		return f.Seen.From, f.Seen.To
	}
	return 0, all
}
