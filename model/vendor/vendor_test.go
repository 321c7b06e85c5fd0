package vendor

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"matladder/machine"
	"matladder/tile"
)

// TestSeconds_HeldOut: of measured times that the tables were not made from, nine of ten lie in each table's
// band, and half of them within 6 %. None is faster than the GPU's published peak.
func TestSeconds_HeldOut(t *testing.T) {
	file, err := os.Open("testdata/held_out.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	errs, inside := map[string][]float64{}, map[string]int{}
	for _, row := range rows[1:] {
		dtype, err := tile.ParseDtype(row[1])
		if err != nil {
			t.Fatal(err)
		}
		table, ok := Find(row[0], dtype)
		if !ok {
			t.Fatalf("no table of %s", row[0])
		}
		var s [4]float64
		for i := range s {
			if s[i], err = strconv.ParseFloat(row[2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		got, err := table.Seconds(int(s[0]), int(s[1]), int(s[2]))
		if err != nil {
			continue // beyond the table's grid
		}
		if d, err := machine.Find(row[0]); err != nil || 2*s[0]*s[1]*s[2]/s[3] > d.PeakAt(row[1], "").Value {
			t.Errorf("%v is above the peak, %v", row, err)
		}
		key := row[0] + " " + row[1]
		errs[key] = append(errs[key], math.Abs(got/s[3]-1))
		if over := s[3] / got; table.Least <= over && over <= table.Most {
			inside[key]++
		}
	}
	if len(errs) < 16 {
		t.Errorf("%d tables", len(errs))
	}
	for device, all := range errs {
		slices.Sort(all)
		if mid := all[len(all)/2]; len(all) < 11 || mid > .06 || float64(inside[device]) < .8*float64(len(all)) {
			t.Errorf("%s: median error of %d rows %.3f, %d inside the band", device, len(all), mid, inside[device])
		}
	}
}

// TestTables_Possible: no time of any table is below that of the published peak, or below what memory takes to
// deliver what the cache cannot hold of a and b.
func TestTables_Possible(t *testing.T) {
	all, err := tables()
	if err != nil || len(all) < 16 {
		t.Fatalf("%d tables, %v", len(all), err)
	}
	for _, table := range all {
		d, err := machine.Find(table.Device)
		if err != nil {
			t.Fatal(err)
		}
		dtype, err := tile.ParseDtype(table.Dtype)
		if err != nil {
			t.Fatal(err)
		}
		if table.Least <= 0 || table.Least > .95 || table.Most < 1.05 {
			t.Errorf("%s %s: band %g to %g", table.Device, table.Dtype, table.Least, table.Most)
		}
		at := 0
		for _, m := range table.M {
			for _, n := range table.N {
				for _, k := range table.K {
					// A time is rounded to three digits.
					seconds := 1.005e-9 * float64(table.Nanoseconds[at])
					flops, bytes := 2*float64(m)*float64(n)*float64(k), float64(dtype.Bytes(int64(m+n)*int64(k)))
					if at++; seconds > 0 && (flops/seconds > d.PeakAt(table.Dtype, "").Value || (bytes-d.LastLevelCacheBytes.Value)/seconds > d.BandwidthBytesPerSecond.Value) {
						t.Errorf("%s %s: %d×%d×%d in %g s", table.Device, table.Dtype, m, k, n, seconds)
					}
				}
			}
		}
	}
}

// TestSeconds: a table's own sizes have its own times, those between lie between, and what it does not
// reach is an error.
func TestSeconds(t *testing.T) {
	table := Table{Library: "L", M: []int{1, 4}, N: []int{1, 2}, K: []int{8, 16}, Nanoseconds: []int64{10, 20, 30, 40, 40, 80, 120, 0}}
	for _, c := range []struct {
		m, k, n int
		want    float64 // ns
	}{{1, 8, 1, 10}, {1, 16, 1, 20}, {1, 8, 2, 30}, {4, 8, 2, 120}, {2, 8, 1, 20}, {2, 16, 1, 40}} {
		if got, err := table.Seconds(c.m, c.k, c.n); err != nil || math.Abs(got*1e9-c.want) > 1e-6 {
			t.Errorf("%d×%d×%d: %v ns, %v; want %v", c.m, c.k, c.n, got*1e9, err, c.want)
		}
	}
	table.Multiple = 2
	if got, err := table.Seconds(3, 8, 1); err == nil {
		t.Errorf("m that is no multiple: %v", got)
	}
	table.Multiple = 0
	for _, s := range [][3]int{{5, 8, 1}, {1, 7, 1}, {1, 8, 3}, {4, 16, 2}, {3, 16, 2}} {
		if got, err := table.Seconds(s[0], s[1], s[2]); err == nil {
			t.Errorf("%v: %v", s, got)
		}
	}
	if _, ok := Find("nvidia_l4", tile.BFloat16); ok {
		t.Error("a table of a device that nobody measured")
	}
	for _, device := range []string{"nvidia_a100_80gb", "nvidia_h100_sxm", "nvidia_h200", "nvidia_b200", "nvidia_l40s", "nvidia_b300", "nvidia_gb200", "nvidia_rtx_pro_6000_server"} {
		table, ok := Find(device, tile.BFloat16)
		if d, err := machine.Find(device); !ok || err != nil {
			t.Errorf("%s: %v", device, err)
		} else if got, err := table.Seconds(4096, 4096, 4096); err != nil || got < 2*math.Pow(4096, 3)/d.PeakAt("bfloat16", "").Value {
			t.Errorf("%s: 4096³ in %v s, above the peak: %v", device, got, err)
		}
	}
}
