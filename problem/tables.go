package problem

import "fmt"

// Tabled is a Problem with tables: int32 operands by which others are indexed.
type Tabled interface {
	Problem
	// CheckTables tells the first element that the problem has no place
	// for; nil if there is none. table is asked for each by its name.
	CheckTables(table func(name string) []int32) *TableError
}

// TableError is an element of a table that its problem has no place for.
type TableError struct {
	Table   string // its name
	Element int
	Value   int32
	Means   string // what the element is
	Low     int    // the least that it may be
	High    int    // the most
}

// Error does not name the table.
func (e *TableError) Error() string {
	return fmt.Sprintf("element %d, %s, is %d: want %d … %d", e.Element, e.Means, e.Value, e.Low, e.High)
}

// CheckTables refuses lengths that are less than 0 or more than the arrays have, and pages
// that there are not. Pages behind the keys that lengths tell may be any.
func (p Attention) CheckTables(table func(name string) []int32) *TableError {
	var lengths, pages []int32
	if p.Lengths {
		lengths = table("lengths")
	}
	if p.PageSize > 0 {
		pages = table("pages")
	}
	for b := range p.Batch {
		keys := p.Keys
		if p.Lengths {
			for i, most := range [...]int{p.Rows, p.Keys} {
				if n := lengths[2*b+i]; n < 0 || int(n) > most {
					return &TableError{"lengths", 2*b + i, n, fmt.Sprintf("the %s of example %d", [...]string{"rows", "keys"}[i], b), 0, most}
				}
			}
			keys = int(lengths[2*b+1])
		}
		if p.PageSize == 0 {
			continue
		}
		each, count := p.PagesEach(), int32(p.PageCount())
		for i, page := range pages[b*each : b*each+(keys+p.PageSize-1)/p.PageSize] {
			if page < 0 || page >= count {
				return &TableError{"pages", b*each + i, page, fmt.Sprintf("page %d of example %d", i, b), 0, int(count) - 1}
			}
		}
	}
	return nil
}

// CheckTables refuses offsets that do not go from 0 to Rows without a step back.
func (p Grouped) CheckTables(table func(name string) []int32) *TableError {
	offsets := table("offsets")
	low, high := 0, 0
	for i, n := range offsets {
		if i == len(offsets)-1 {
			low = p.Rows
		}
		if int(n) < low || int(n) > high {
			return &TableError{"offsets", i, n, fmt.Sprintf("where group %d begins", i), low, high}
		}
		low, high = int(n), p.Rows
	}
	return nil
}
