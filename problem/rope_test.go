package problem

import (
	"math"
	"testing"
)

// TestRope_Frequencies holds frequencies to those of Hugging Face's formulas
// (src/transformers/modeling_rope_utils.py at 0044e3b, carried out in Python's floats).
func TestRope_Frequencies(t *testing.T) {
	for _, c := range []struct {
		words string
		dim   int
		want  map[int]float64
	}{
		{"float32", 64, map[int]float64{0: 1, 1: 0.749894209332, 31: 0.000133352143216}},
		{"float32:rotary64", 128, map[int]float64{0: 1, 1: 0.749894209332, 31: 0.000133352143216}},
		{"float32:base500000+llama3", 128, map[int]float64{
			0: 1, 10: 0.128687373433, 28: 0.00321144599475, 29: 0.0021665707635, 30: 0.00137189356776,
			35: 9.55621235396e-05, 40: 3.42810219595e-05, 63: 3.06892598891e-07}},
		{"float32:yarn16,4096", 128, map[int]float64{
			0: 1, 15: 0.115478198469, 20: 0.056234132519, 25: 0.0224471417136, 30: 0.00852684377297,
			46: 8.33450895102e-05, 50: 4.68683880833e-05, 63: 7.21738740431e-06}},
	} {
		asked, err := RopeFamily.Parse(c.words)
		if err != nil {
			t.Fatal(err)
		}
		p := RopeFamily.Make(Sizes{1, 1, c.dim, 1}, asked).(Rope)
		for d, want := range c.want {
			if f := p.Frequency(d); math.Abs(f-want) > 1e-11*want {
				t.Errorf("%s: pair %d has frequency %.12g, want %.12g", c.words, d, f, want)
			}
		}
	}
	if m := (Rope{Rotation: Rotation{Scaling: YaRN, Longer: 16, Context: 4096}}).Magnitude(); math.Abs(m-1.2772588722239782) > 1e-15 {
		t.Errorf("YaRN's magnitude is %v", m)
	}
}

// TestParse_Words: what families of words read and spell is the same problem again, and
// what none of them knows is refused.
func TestParse_Words(t *testing.T) {
	for _, f := range []*Family{RopeFamily, NormFamily} {
		for _, words := range append(append([]string(nil), f.Dtypes...), f.Examples...) {
			asked, err := f.Parse(words)
			if err != nil {
				t.Errorf("%s %q: %v", f.Name, words, err)
				continue
			}
			p := f.Make(f.Sample, asked)
			if err := p.Validate(); err != nil {
				t.Errorf("%s %q: %v", f.Name, words, err)
			}
			again, err := f.Complete(p.Asked())
			if err != nil || again != asked || f.Make(p.Sizes(), again) != p {
				t.Errorf("%s %q is %+v, and then %+v, %v", f.Name, words, asked, again, err)
			}
		}
	}
	for f, list := range map[*Family][]string{
		RopeFamily: {"int8", "float32:", "float32:rotary63", "float32:rotary", "float32:at-1", "float32:base1", "float32:baseNaN", "float32:yarn16", "float32:yarn0,1", "float32:llama4"},
		NormFamily: {"int8", "float32:eps0", "float32:eps-1", "float32:epsInf", "float32:outint8", "float32:group", "float32:rms+"},
	} {
		for _, words := range list {
			if asked, err := f.Parse(words); err == nil && words != "float32:" {
				t.Errorf("%s %q is read as %+v", f.Name, words, asked)
			}
		}
	}
}
