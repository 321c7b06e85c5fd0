package hlo

import "testing"

// TestKernels: the product in a loop of launches has the FLOPs of its definition, and needs of
// main memory its arrays there once.
func TestKernels(t *testing.T) {
	m, err := Read("hlo_with_config", loop(t))
	if err != nil {
		t.Fatal(err)
	}
	var flops, bytes int64
	for _, k := range m.Kernels() {
		if flops += k.FLOPs; k.FLOPs > 0 {
			bytes = k.Bytes
			if k.Products == "" || k.Maybe || k.Ahead || len(k.Arguments) != 2 || k.Left+k.Right > k.Bytes {
				t.Errorf("%+v", k)
			}
		}
	}
	const side = 512
	if flops != 2*side*side*side || bytes%(side*side) != 0 || bytes == 0 {
		t.Errorf("%d FLOPs, %d bytes", flops, bytes)
	}
}

// TestPositions compares with a walk over what the window covers, element by element.
func TestPositions(t *testing.T) {
	for _, w := range []window{{1, 1, 0, 1, 1}, {3, 1, 1, 1, 1}, {3, 2, 1, 2, 1}, {4, 1, 3, 1, 1}, {2, 1, 1, 1, 3}, {8, 7, 7, 1, 8}} {
		const out, in = 9, 8
		dilated := map[int64]bool{}
		for i := range int64(in) {
			dilated[i*w.base] = true
		}
		var want int64
		for o := range int64(out) {
			for k := range w.size {
				if dilated[o*w.stride+k*w.dilation-w.low] {
					want++
				}
			}
		}
		if have := w.positions(out, in); have != want {
			t.Errorf("%+v: %d, want %d", w, have, want)
		}
	}
}

// FuzzKernels: no module, however odd, ends the program.
func FuzzKernels(f *testing.F) {
	f.Add(loop(f))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if m, err := Read("hlo_with_config", text); err == nil {
			m.Kernels()
		}
	})
}
