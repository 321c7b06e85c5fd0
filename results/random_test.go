package results

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameRow compares records as rows: where they were read does not matter.
var sameRow = []cmp.Option{cmpopts.IgnoreFields(Record{}, "Pos"), cmpopts.EquateEmpty()}

// nasty are texts that break careless CSV code.
var nasty = []string{
	"", " ", ",", "\"", "\"\"", "a,b", "a\nb", "\n", "\na\n", "a\tb", " leading", "trailing ", `\.`, "'", "#no comment",
	"=1+1", "é", "日本語", "\u2028", "\ufeff", "\uFFFD", `he said "no", twice`, "\"1\",x", "1,v1,measured",
}

// within is v, or the bound that it is beyond.
func within(c column, v float64) float64 {
	if l, bounded := limits[c.name]; bounded && v != 0 {
		return min(max(v, l.least), l.most)
	}
	return v
}

// randomRecord returns a legal record that fills every column by chance.
func randomRecord(rng *rand.Rand) Record {
	r := Record{}
	text := func() string {
		if rng.IntN(2) == 0 {
			return nasty[rng.IntN(len(nasty))]
		}
		return nasty[rng.IntN(len(nasty))] + nasty[rng.IntN(len(nasty))]
	}
	positive := func() float64 { return math.Ldexp(rng.Float64(), rng.IntN(400)-200) }
	for _, c := range columns {
		if rng.IntN(4) == 0 {
			continue
		}
		switch v := c.of(&r).(type) {
		case *string:
			*v = text()
		case *int:
			*v = rng.IntN(int(within(c, 1<<30)))
		case *int64:
			*v = rng.Int64()
		case *float64:
			*v = within(c, positive())
		case *Optional[int64]:
			if *v = Some(rng.Int64()); c.signed {
				v.Value -= rng.Int64()
			}
		case *Optional[float64]:
			*v = Some(within(c, positive()))
		case *time.Time:
			*v = time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).UTC()
		}
	}
	r.Schema = Schema
	r.Kernel, r.DtypeA = "k"+text(), "d"+text()
	r.Mode, r.Status = Modes[rng.IntN(len(Modes))], Statuses[rng.IntN(len(Statuses))]
	r.Batch, r.M, r.K, r.N = 1+rng.IntN(9), 1+rng.IntN(1<<18), 1+rng.IntN(1<<18), 1+rng.IntN(1<<18)
	r.Layers = []string{"", FormatUses([]LayerUse{{"a layer, \"quoted\"", 1, 3, "q, k, v", 2}, {"another", 2, 2, "down", 1}})}[rng.IntN(2)]
	r.Family, r.Shape, r.Figure = "", "", Figures[rng.IntN(len(Figures))]
	switch rng.IntN(3) {
	case 0:
		r.Family, r.Shape = firstFamily, r.ShapeName()
	case 1:
		r.Family, r.Shape, r.Batch, r.M, r.K, r.N = "softmax", "rows=3,cols=70000", 1, 0, 0, 0
	}
	if rng.IntN(3) > 0 {
		r.Method = Methods[rng.IntN(len(Methods))]
	}
	r.Launches, r.Seconds = 1+r.Launches, min(positive()+1e-9, 1e10)
	if r.Mode == Predicted {
		r.Launches = 1
	}
	if rng.IntN(3) == 0 {
		r.Extra = map[string]string{"nïce, column": "x" + text(), "other": "y" + text()}
	}
	return r
}
