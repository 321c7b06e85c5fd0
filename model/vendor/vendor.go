// Package vendor has what others measured of vendors' own matrix products on GPUs: a table of
// times for a grid of m, n and k, and what lies between its sizes by interpolation.
//
// rates.json.gz is written by tools/silicon, which also measures how far interpolation is off.
package vendor

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"matladder/tile"
)

// A Table has the times of one library on one GPU.
type Table struct {
	Device  string // its key in package machine
	Dtype   string // of a, b and the output
	Library string // whose product it is
	Package string // that the times are from, and its version
	Path    string // of the file in it
	// MedianError is the median relative error of interpolation at sizes that the table was not made from.
	// Nine of ten times there, of any program that measured such products, are Least to Most of the table's.
	MedianError, Least, Most float64
	Multiple                 int // of which m is, above it; 0 if m may be any
	M, N, K                  []int
	Nanoseconds              []int64 // [m][n][k]; 0 where there is no time
}

//go:embed rates.json.gz
var packed []byte

var tables = sync.OnceValues(func() (all []Table, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&all)
	}
	return all, err
})

// Find returns the table of a device, by its key in package machine, and dtype; false if there is none.
func Find(device string, dtype tile.Dtype) (Table, bool) {
	all, err := tables()
	i := slices.IndexFunc(all, func(t Table) bool { return t.Device == device && t.Dtype == dtype.String() })
	if err != nil || i < 0 {
		return Table{}, false
	}
	return all[i], true
}

// Seconds is the time of a product of m×k by k×n elements: the logarithm of the time is linear in
// the logarithm of each size between neighbours of the grid. The error says what the table does not reach.
func (t Table) Seconds(m, k, n int) (float64, error) {
	if t.Multiple > 0 && m > t.Multiple && m%t.Multiple != 0 {
		return 0, fmt.Errorf("published times of %s are of m that are multiples of %d, not %d", t.Library, t.Multiple, m)
	}
	type corner struct {
		at int
		by float64
	}
	corners := []corner{{0, 1}}
	for _, size := range []struct {
		name string
		n    int
		grid []int
	}{{"m", m, t.M}, {"n", n, t.N}, {"k", k, t.K}} {
		at, found := slices.BinarySearch(size.grid, size.n)
		ends := []corner{{at, 1}}
		if !found {
			if at == 0 || at == len(size.grid) {
				return 0, fmt.Errorf("published times of %s reach from %s = %d to %d, not %d", t.Library, size.name, size.grid[0], size.grid[len(size.grid)-1], size.n)
			}
			low, high := float64(size.grid[at-1]), float64(size.grid[at])
			by := math.Log(float64(size.n)/low) / math.Log(high/low)
			ends = []corner{{at - 1, 1 - by}, {at, by}}
		}
		var next []corner
		for _, c := range corners {
			for _, e := range ends {
				next = append(next, corner{c.at*len(size.grid) + e.at, c.by * e.by})
			}
		}
		corners = next
	}
	sum := 0.
	for _, c := range corners {
		if t.Nanoseconds[c.at] == 0 {
			return 0, fmt.Errorf("%s has no published time near %d×%d×%d", t.Library, m, k, n)
		}
		sum += c.by * math.Log(float64(t.Nanoseconds[c.at])*1e-9)
	}
	return math.Exp(sum), nil
}
