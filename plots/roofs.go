package plots

import (
	"cmp"

	"matladder/stats"

	"matladder/machine"
	"matladder/results"
)

// roofsOf returns the limits that the rows state, one roof for each device and
// dtype: the newest statement counts, since a measured peak differs a little from
// run to run. The baseline's device counts only where there is no kernel.
func roofsOf(summaries []stats.Summary) []Roof {
	newest := map[string]*stats.Summary{}
	measured := map[string]bool{}
	var devices []string
	for _, baseline := range []bool{false, true} {
		for i := range summaries {
			s := &summaries[i]
			if !drawable(s.Roof()) || (s.Kernel == results.Baseline) != baseline {
				continue
			}
			device := deviceOf(&s.Record) + "\x00" + s.DtypeA
			if newest[device] == nil {
				devices = append(devices, device)
			}
			if old := newest[device]; old == nil || old.StartedAt.Before(s.StartedAt) {
				newest[device] = s
			}
			measured[device] = measured[device] || s.Mode == results.Measured
		}
		if len(devices) > 0 {
			break
		}
	}
	var roofs []Roof
	several := false
	for _, id := range devices {
		several = several || deviceOf(&newest[id].Record) != deviceOf(&newest[devices[0]].Record)
	}
	for _, id := range devices {
		s := newest[id]
		device := deviceOf(&s.Record)
		r := Roof{Label: roofOf(Request{Dtype: s.DtypeA}, s), Peak: s.Roof(), Bandwidth: s.Bandwidth, Predicted: !measured[id], Of: s.RateOf()}
		if several && device != "" {
			r.Label = device + " " + r.Label
		}
		if !drawable(r.Bandwidth) {
			r.Bandwidth = 0
		}
		roofs = append(roofs, r)
	}
	return roofs
}

// deviceOf is how people know the device of a row.
func deviceOf(r *results.Record) string { return machine.CommonName(cmp.Or(r.Device, r.Chip)) }
