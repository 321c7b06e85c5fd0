package aot

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/machine"
	"matladder/model/vendor"
	"matladder/problem"
	"matladder/tile"
)

// Published is the baseline of a GPU that is not at hand: times that others measured of the
// vendor's library, as package vendor has them.
type Published struct {
	device machine.Device
	table  vendor.Table
}

var (
	_ backend.BaselinePredictor = (*Published)(nil)
	_ backend.Plugged           = (*Published)(nil)
)

// OpenPublished is the baseline of a device; the error says that nobody's times are known.
func OpenPublished(d machine.Device) (*Published, error) {
	t, ok := vendor.Find(d.Key, tile.BFloat16)
	if !ok {
		return nil, fmt.Errorf("no published times of matrix products on %s come with this program", d.Key)
	}
	return &Published{d, t}, nil
}

// publishedLayers is how many layers, each with a b of its own, ran one after another while published times
// were taken.
const publishedLayers = 6

// Name is cublas.
func (*Published) Name() string { return "cublas" }

// Device is the GPU as the chip table has it.
func (p *Published) Device() machine.Device { return p.device }

// Plugin is the package that published the times, and its file.
func (p *Published) Plugin() (name, version string) { return p.table.Package, p.table.Path }

// Close does nothing.
func (*Published) Close() error { return nil }

// PredictBaseline interpolates between published times of products of one dtype, whose scales of a whole
// array cost nothing. The band is what nine of ten held-out times of any collector lie in. Where b of all
// layers of a collector's graph may have stayed in the L2 cache, it reaches to b from memory too.
func (p *Published) PredictBaseline(_ context.Context, spec backend.ProblemSpec) (backend.Prediction, error) {
	m, ok := spec.Problem.(problem.Matmul)
	table, known := vendor.Find(p.device.Key, m.A)
	plain := problem.New(m.M, m.K, m.N, m.A)
	if m.Quant == problem.PerTensor {
		plain.Quant, plain.Out = m.Quant, m.Out
	}
	if !ok || !known || m != plain || spec.Variant != "" || spec.Mesh != "" {
		return backend.Prediction{}, fmt.Errorf("%w: no published times of such a product on %s", backend.ErrUnsupported, p.device.Key)
	}
	seconds, err := table.Seconds(m.M, m.K, m.N)
	if err != nil {
		return backend.Prediction{}, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	most := seconds * table.Most
	if b := float64(m.B.Bytes(int64(m.K) * int64(m.N))); publishedLayers*b <= p.device.LastLevelCacheBytes.Value {
		most += b / p.device.BandwidthBytesPerSecond.Value
	}
	got := predicted(p, seconds, seconds*table.Least, most)
	got.Method = "published"
	return got, nil
}
