package plots

import (
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// againPictures shows rates in the order of the rows.
func againPictures(q Request, d data) ([]figure.Picture, error) {
	s := figure.Series{Label: "rates"}
	most := 0.0
	for i, sum := range stats.Best(d.asked) {
		if usable(&sum) {
			s.Points = append(s.Points, figure.Point{X: float64(i + 1), Y: sum.Rate.Median, Lo: sum.Rate.Lo, Hi: sum.Rate.Hi})
			most = max(most, sum.Rate.Hi)
		}
	}
	unit := rateUnit(most, results.FLOPs)
	return []figure.Picture{&figure.Chart{
		Heading: figure.Heading{Name: fileName(q), Title: "Rates, once more"},
		X:       figure.Axis{Label: "place", Min: 0, Max: float64(len(s.Points) + 1), Unit: figure.Unit{Value: 1}},
		Y:       figure.Axis{Label: unit.Name, Min: 0, Max: most * 1.1, Unit: unit},
		Series:  []figure.Series{s},
	}}, nil
}
