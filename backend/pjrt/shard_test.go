//go:build linux && cgo

package pjrt

import (
	"strings"
	"testing"

	"matladder/check"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"

	binding "github.com/gomlx/go-xla/pjrt"
)

// TestSharded multiplies on four devices at once: rows of a and of the result are
// spread over them, b is on each.
func TestSharded(t *testing.T) {
	be := openCPU(t, Options{}).(*pjrtBackend)
	defer be.Close()
	const devices = 4
	if n := be.client.NumDevices(); n < devices {
		t.Fatalf("the plugin has %d devices, want %d", n, devices)
	}
	p := problem.New(4*24, 40, 56, tile.Float32)
	launch, err := stablehlo.Baseline(p)
	if err != nil {
		t.Fatal(err)
	}
	text := launch.Once()
	for from, to := range map[string]string{
		"module @xla {":               "module @xla attributes {mhlo.num_partitions = 4 : i32} {\n  sdy.mesh @devices = <[\"rows\"=4]>",
		"@main(%a: tensor<96x40xf32>": "@main(%a: tensor<96x40xf32> {sdy.sharding = #sdy.sharding<@devices, [{\"rows\"}, {}]>}",
		"%b: tensor<40x56xf32>) -> (tensor<96x56xf32>) {": "%b: tensor<40x56xf32> {sdy.sharding = #sdy.sharding<@devices, [{}, {}]>}) -> " +
			"(tensor<96x56xf32> {sdy.sharding = #sdy.sharding<@devices, [{\"rows\"}, {}]>}) {",
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("no %q in\n%s", from, text)
		}
		text = strings.Replace(text, from, to, 1)
	}
	program, err := be.client.Compile().WithStableHLO([]byte(text)).WithShardy(devices).Done()
	if err != nil {
		t.Fatal(err)
	}
	defer program.Destroy()
	in := map[string]tile.Tensor{"a": tile.NewTensor(p.A, p.M, p.K), "b": tile.NewTensor(p.B, p.K, p.N)}
	for name, array := range in {
		if err := check.Fill(t.Context(), array, name, p, 1, check.Uniform); err != nil {
			t.Fatal(err)
		}
	}
	_, _, assignment, err := program.GetDeviceAssignment()
	if err != nil {
		t.Fatal(err)
	}
	rows := p.M / devices
	var args []*binding.Buffer
	for i, device := range assignment {
		be.target = be.client.AddressableDevices()[device]
		part := in["a"].Data[i*rows*p.K*4 : (i+1)*rows*p.K*4]
		for _, array := range []tile.Tensor{{Dtype: p.A, Shape: []int{rows, p.K}, Data: part}, in["b"]} {
			b, err := be.transfer("a part", array)
			if err != nil {
				t.Fatal(err)
			}
			defer b.free()
			args = append(args, b.Buffer)
		}
	}
	out, err := program.Execute(args...).DonateNone().Done()
	if err != nil || len(out) != devices {
		t.Fatalf("%d results: %v", len(out), err)
	}
	o := tile.NewTensor(p.Out, p.M, p.N)
	for i, b := range out {
		defer b.Destroy()
		if dims, err := b.Dimensions(); err != nil || len(dims) != 2 || dims[0] != rows || dims[1] != p.N {
			t.Fatalf("part %d is %v, %v", i, dims, err)
		}
		if err := b.ToHost(o.Data[i*rows*p.N*4 : (i+1)*rows*p.N*4]); err != nil {
			t.Fatal(err)
		}
	}
	reference, err := check.NewReference(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reference.Verify(t.Context(), nil, in, map[string]tile.Tensor{"o": o})
	if err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
