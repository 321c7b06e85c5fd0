package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	m, err := Parse("model=2, data=3")
	if err != nil || m.String() != "model=2,data=3" || m.Devices() != 6 || m.Size(Data) != 3 || m.Size(Data, Model) != 6 || m.Size(Expert) != 1 {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"":                         "want axes and sizes",
		"16":                       "want axes and sizes",
		"data":                     "want axes and sizes",
		"data=":                    "not a whole number",
		"data=0":                   "not a whole number",
		"data=-2":                  "not a whole number",
		"data=2,data=2":            "axis data is there twice",
		"rows=2":                   `unknown axis "rows" (known: data, model)`,
		"expert=2":                 "unknown axis",
		"data=2,":                  "want axes and sizes",
		"data=1048576,model=2":     "more than 1048576 devices",
		"data=9223372036854775807": "more than 1048576 devices",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSmaller(t *testing.T) {
	for text, want := range map[string]string{
		"data=16,model=16": "[data=1,model=1 data=2,model=2 data=4,model=4 data=8,model=8 data=16,model=16]",
		"data=12,model=2":  "[data=1,model=1 data=3,model=1 data=6,model=1 data=12,model=2]",
		"model=1":          "[model=1]",
	} {
		m, err := Parse(text)
		if got := fmt.Sprint(m.Smaller(nil)); err != nil || got != want {
			t.Errorf("%s: %s, want %s; %v", text, got, want, err)
		}
	}
}

// TestSmaller_Fits: what cannot be had is left out for the largest that can.
func TestSmaller_Fits(t *testing.T) {
	m, err := Parse("data=560,model=16")
	if err != nil {
		t.Fatal(err)
	}
	have := []int{8960, 2240, 448, 320, 64, 16, 4, 2, 1} // slices of a pod of v5p
	got := fmt.Sprint(m.Smaller(func(m Mesh) bool { return slices.Contains(have, m.Devices()) }))
	const want = "[data=1,model=1 data=2,model=2 data=4,model=4 data=8,model=8 data=56,model=8 data=280,model=8 data=560,model=16]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(m.Smaller(func(m Mesh) bool { return m.Devices() == 8960 })); got != "[data=1,model=1 data=560,model=16]" {
		t.Errorf("nothing but the whole: %s", got)
	}
}

// TestStart counts how often each element of an array lies in a device's part: once for
// each place along the axes that the array is not split over.
func TestStart(t *testing.T) {
	const rows, columns = 24, 36
	for _, text := range []string{"data=2,model=3", "model=3,data=2", "model=6", "data=4"} {
		m, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range Shardings {
			for name, split := range map[string]Split{"a": way.A, "b": way.B, "o": way.O} {
				part, err := m.Shape(name, [2]int{rows, columns}, split)
				if err != nil {
					t.Fatal(err)
				}
				var seen [rows][columns]int
				for device := range m.Devices() {
					at := m.Start(device, part, split)
					for i := range part[0] {
						for j := range part[1] {
							seen[at[0]+i][at[1]+j]++
						}
					}
				}
				want := m.Devices() / m.Size(split[0]...) / m.Size(split[1]...)
				for i := range seen {
					for j, n := range seen[i] {
						if n != want {
							t.Fatalf("%s %s %s: element %d,%d is on %d devices, want %d", text, way.Name, name, i, j, n, want)
						}
					}
				}
			}
			mm, k, n, err := way.Local(m, rows, rows, columns)
			if err != nil || mm*k*n*m.Devices() != rows*rows*columns {
				t.Errorf("%s %s: local product %d·%d·%d of %d devices, %v", text, way.Name, mm, k, n, m.Devices(), err)
			}
		}
	}
	m := Mesh{{Data, 5}}
	if _, _, _, err := Shardings[0].Local(m, 24, 8, 8); err == nil || !strings.Contains(err.Error(), "24 rows of a cannot be split evenly over 5 devices (data)") {
		t.Error(err)
	}
}
