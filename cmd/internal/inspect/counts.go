package inspect

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"matladder/backend/xla/aot"
	"matladder/model"
	"matladder/model/traverse"
)

// counts writes what one launch costs, and where it stands under the roofline of the device.
func (o *options) counts(ctx context.Context, w io.Writer) error {
	c, err := o.count(ctx)
	if err != nil {
		return err
	}
	if c.FLOPs == 0 {
		c.FLOPs = o.flops // no products: the problem's own
	}
	type row struct{ name, value, note string }
	whole := func(n int64) string { return fmt.Sprint(n) }
	rows := []row{
		{"kernel", o.name, ""},
		{"grid steps", whole(c.GridSteps), ""},
		{"FLOPs", whole(c.FLOPs), ""},
		{"bytes at least", whole(c.BytesMin), traverse.Bytes(c.BytesMin) + ", every array once"},
		{"bytes moved", whole(c.BytesMoved), traverse.Bytes(c.BytesMoved)},
		{"fast memory", whole(c.FastBytes), traverse.FastMemory(c.FastBytes) + o.fits(c.FastBytes)},
		{"intensity", fmt.Sprintf("%.1f", c.Intensity()), "FLOPs per byte moved"},
		{"at most", fmt.Sprintf("%.1f", c.MinimumIntensity()), "FLOPs per byte, if every array moved once"},
		{"chip", o.device.Key, ""},
	}
	if o.program != "" {
		rows[3].note = traverse.Bytes(c.BytesMin) + ", what each kernel cannot do without"
	}
	if o.kernel != nil {
		rows = slices.Insert(rows, 1, row{"problem", o.asked, ""}, row{"blocks", o.blocks.String(), o.kernel.Family().BlockForm()})
	}
	if r, ok := c.At(o.device, o.dtype.String(), o.precision.String()); ok {
		rows = append(rows,
			row{"ridge", fmt.Sprintf("%.1f", r.Ridge), "FLOPs per byte where the roofs meet"},
			row{"roof", string(r.Limit), "what holds it back"},
			row{"attainable", fmt.Sprintf("%.4g", r.Attainable/1e12), fmt.Sprintf("TFLOP/s, %.1f %% of the %s peak", 100*r.Attainable/o.device.PeakAt(o.dtype.String(), "").Value, o.dtype)},
			row{"seconds", fmt.Sprintf("%.4g", r.Seconds), "at that rate"},
		)
	} else {
		rows = append(rows, row{"roof", "unknown", fmt.Sprintf("%s publishes no peak for %s, or no bandwidth", o.device.Key, o.dtype)})
	}
	if o.format == "csv" {
		t := csv.NewWriter(w)
		t.Write([]string{"quantity", "value", "note"})
		for _, r := range rows {
			t.Write([]string{r.name, r.value, r.note})
		}
		t.Flush()
		return t.Error()
	}
	for _, r := range rows {
		if r.note != "" {
			r.note = "  (" + r.note + ")"
		}
		fmt.Fprintf(w, "%-16s  %s%s\n", r.name, r.value, r.note)
	}
	return nil
}

// count counts a launch: tile programs by themselves, a program of XLA by what the compiler
// makes of it. Of the latter the bytes at least are those that its kernels cannot do without.
func (o *options) count(ctx context.Context) (c model.Counts, err error) {
	if o.program == "" && o.wrong == nil {
		return model.Count(o.programs)
	}
	err = o.kernelsOn(ctx, o.topology, false, func(_ *aot.Backend, list []aot.Kernel) error {
		for _, k := range list {
			c.GridSteps += k.Work.Steps
			c.FLOPs += k.Work.FLOPs
			c.BytesMoved += k.Work.Bytes
			c.BytesMin += k.LeastBytes
			c.FastBytes = max(c.FastBytes, k.VMEM)
		}
		return nil
	})
	return c, err
}

// fits compares with the device's fast memory.
func (o *options) fits(need int64) string {
	limit := o.device.FastDefaultBytes
	switch {
	case !limit.Known():
		return ""
	case float64(need) > limit.Value:
		return fmt.Sprintf(", does not fit %s of %s", traverse.FastMemory(int64(limit.Value)), o.device.Key)
	}
	return fmt.Sprintf(" of %s on %s", traverse.FastMemory(int64(limit.Value)), o.device.Key)
}
