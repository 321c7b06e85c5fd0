package results

import "fmt"

// limits are the most, and above zero the least, that a cell of a column may say:
// bounds of what machines can be, far beyond any of today's, so that a figure made
// of rows stays a number and a picture of it has an end. FORMAT.md names them.
var limits = map[string]struct{ least, most float64 }{
	"round": {most: maxRounds}, "rep": {most: maxRounds},
	"launches": {most: 1 << 40},
	"seconds":  {1e-15, 1e10}, "compile_seconds": {most: 1e10},
	"peak_flops": {1, 1e24}, "bandwidth": {1, 1e21},
	"err_over_bound": {errLeast, errMost}, "rel_err": {errLeast, errMost},
	"quant_rel_err": {errLeast, errMost}, "quant_max_err": {errLeast, errMost}, "quant_snr_db": {most: 1e5},
	"threads": {most: 1 << 20}, "devices": {most: 1 << 24},
	"bm": {most: 1 << 50}, "bk": {most: 1 << 50}, "bn": {most: 1 << 50},
}

// maxRounds is the number of the last round, and of the last repetition in one.
const maxRounds = 1 << 20

// What the error of an output can be: of float64 numbers over a bound above 1e-100.
const errLeast, errMost = 1e-150, 1e150

// limit reports a number that the column may not say. Zero is empty, or exact.
func (c column) limit(number float64) error {
	l, bounded := limits[c.name]
	if number < 0 {
		number = -number // of a signed column
	}
	switch {
	case !bounded || number == 0:
	case number > l.most:
		return fmt.Errorf("%v is more than %v, the most that makes sense", number, l.most)
	case number < l.least:
		return fmt.Errorf("%v is less than %v, the least that makes sense", number, l.least)
	}
	return nil
}
