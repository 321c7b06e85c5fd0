package plots

import (
	"matladder/results"
	"matladder/stats"
)

// againPictures shows rates in the order of the rows.
func againPictures(q Request, d data) ([]Picture, error) {
	s := Series{Label: "rates"}
	most := 0.0
	for i, sum := range stats.Best(d.asked) {
		if usable(&sum) {
			s.Points = append(s.Points, Point{X: float64(i + 1), Y: sum.Rate.Median, Lo: sum.Rate.Lo, Hi: sum.Rate.Hi})
			most = max(most, sum.Rate.Hi)
		}
	}
	unit := rateUnit(most, results.FLOPs)
	return []Picture{&Chart{
		Heading: Heading{Name: fileName(q), Title: "Rates, once more"},
		X:       Axis{Label: "place", Min: 0, Max: float64(len(s.Points) + 1), Unit: Unit{"", 1}},
		Y:       Axis{Label: unit.Name, Min: 0, Max: most * 1.1, Unit: unit},
		Series:  []Series{s},
	}}, nil
}
