package figure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestSpread holds spread to its contract on random input: inside, apart, in
// order, and where it is wanted if nothing is near.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 1 + rng.IntN(12)
		want, height := make([]float64, n), make([]float64, n)
		total := 0.0
		for i := range want {
			want[i], height[i] = rng.Float64()*100, 1+rng.Float64()*12
			total += height[i]
		}
		got, ok := spread(want, height, 0, 100)
		if ok != (total <= 100) {
			t.Fatalf("fits %v with a total of %v", ok, total)
		}
		if !ok {
			continue
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			if want[i] < want[j] {
				return -1
			}
			return 1
		})
		floor := 0.0
		for at, i := range order {
			if got[i]-height[i]/2 < floor-1e-9 || got[i]+height[i]/2 > 100+1e-9 {
				t.Fatalf("want %v, height %v: got %v", want, height, got)
			}
			floor = got[i] + height[i]/2
			alone := want[i]-height[i]/2 >= 0 && want[i]+height[i]/2 <= 100
			for _, j := range order {
				// Far enough that no block of all others could reach it.
				alone = alone && (i == j || math.Abs(want[i]-want[j]) > total)
			}
			if alone && math.Abs(got[i]-want[i]) > 1e-9 {
				t.Fatalf("%d of %v moved to %v for nothing", at, want, got[i])
			}
		}
	}
}

// TestSpread_LeastSquares compares the total displacement with that of many
// small changes: none may be better.
func TestSpread_LeastSquares(t *testing.T) {
	want, height := []float64{10, 11, 12, 40, 41, 98}, []float64{4, 4, 4, 6, 6, 8}
	got, _ := spread(want, height, 0, 100)
	cost := func(c []float64) (sum float64) {
		for i := range c {
			sum += (c[i] - want[i]) * (c[i] - want[i])
		}
		return sum
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		try := slices.Clone(got)
		for i := range try {
			try[i] += rng.NormFloat64() * 0.2
		}
		legal := try[0]-2 >= 0 && try[5]+4 <= 100
		for i := 1; i < len(try); i++ {
			legal = legal && try[i]-height[i]/2 >= try[i-1]+height[i-1]/2
		}
		if legal && cost(try) < cost(got)-1e-9 {
			t.Fatalf("%v is nearer to %v than %v", try, want, got)
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ticks []Tick) string {
		var list []string
		for _, tick := range ticks {
			list = append(list, tick.Label)
		}
		return strings.Join(list, " ")
	}
	giga := Unit{"GFLOP/s", 1e9}
	for _, c := range []struct{ got, want string }{
		{labels(linearTicks(446e9, giga, 6)), "0 100 200 300 400"},
		{labels(linearTicks(1.06e9, giga, 6)), "0 0.2 0.4 0.6 0.8 1"},
		{labels(linearTicks(14.8e9, giga, 6)), "0 2.5 5 7.5 10 12.5"},
		{labels(linearTicks(0, giga, 6)), ""},
		{labels(linearTicks(math.Inf(1), giga, 6)), ""},
		{labels(LogTicks(30e9, 600e9, giga)), "50 100 200 500"},
		{labels(LogTicks(0, 600e9, giga)), ""},
		{labels(LogTicks(5, 5, Unit{"", 1})), ""},
	} {
		if c.got != c.want {
			t.Errorf("ticks %q, want %q", c.got, c.want)
		}
	}
}

// TestThinned: where there is no room for all, powers of two keep their label
// and no two labels touch.
func TestThinned(t *testing.T) {
	var sizes []Tick
	for n := 128; n <= 4096; n += 64 {
		sizes = append(sizes, Tick{Value: float64(n), Label: fmt.Sprint(n)})
	}
	ax := Powers("size", sizes)
	if len(ax.Ticks) != len(sizes) {
		t.Fatalf("%d ticks for %d sizes", len(ax.Ticks), len(sizes))
	}
	place := func(v float64) vg.Length {
		return vg.Length(ax.along(v)) * 500
	}
	extent := func(Tick) vg.Length { return 30 }
	ticks := thinned(ax.Ticks, place, extent)
	var shown []Tick
	for i, tick := range ticks {
		if tick.Label != "" {
			shown = append(shown, tick)
		} else if n := int(ax.Ticks[i].Value); n&(n-1) == 0 {
			t.Errorf("%d lost its label", n)
		}
	}
	if len(shown) < 8 || crowded(shown, place, extent) {
		t.Errorf("labels: %v", shown)
	}
}

func TestCrosses(t *testing.T) {
	box := vg.Rectangle{Max: vg.Point{X: 10, Y: 10}}
	for _, c := range []struct {
		line Segment
		want bool
	}{
		{Segment{{X: -5, Y: 5}, {X: 15, Y: 5}}, true},
		{Segment{{X: 2, Y: 2}, {X: 3, Y: 3}}, true},
		{Segment{{X: -5, Y: 8}, {X: 3, Y: 15}}, false},
		{Segment{{X: -5, Y: 12}, {X: 15, Y: 12}}, false},
		{Segment{{X: 12, Y: -5}, {X: 12, Y: 15}}, false},
		{Segment{{X: 20, Y: 20}, {X: 30, Y: 30}}, false},
	} {
		if got := c.line.Crosses(box); got != c.want {
			t.Errorf("crosses(%v) = %v", c.line, got)
		}
	}
}

// TestFileSafe: a name of any length makes a file, and two that begin alike make two.
func TestFileSafe(t *testing.T) {
	long := strings.Repeat("../v1 naive", 400)
	a, b := FileSafe(long), FileSafe(long+"x")
	if len(a) > maxName || len(b) > maxName || a == b || strings.ContainsAny(a, "/ ") {
		t.Errorf("%q and %q", a, b)
	}
	if got := FileSafe("performance_ladder_float32"); got != "performance_ladder_float32" {
		t.Errorf("%q", got)
	}
}
