package mx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	mx "matladder/kernels/v6_mx"
	"matladder/problem"
	"matladder/problem/quant"
	"matladder/problem/quant/quanttest"
	"matladder/tile"
	"matladder/tile/interp"
)

// python runs a script that has imported numpy and ml_dtypes, on what is sent as JSON, and
// reads what it prints. It skips the test where these are not installed.
func python(t *testing.T, script string, send, into any) {
	t.Helper()
	name := os.Getenv("MATLADDER_PYTHON")
	if name == "" {
		name = "python3"
	}
	text, err := json.Marshal(send)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(name, "-c", "import numpy, ml_dtypes").Run(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "numpy") {
			t.Fatalf("numpy and ml_dtypes are required: %v", err)
		}
		t.Skip("not installed: python3 -m pip install numpy ml_dtypes, and MATLADDER_PYTHON names that python3")
	}
	const before = `
import sys, json, base64, warnings
import numpy as np, ml_dtypes as ml
warnings.simplefilter("ignore")
dtypes = {"float16": np.float16, "bfloat16": ml.bfloat16, "float32": np.float32, "int8": np.int8,
  "float8_e4m3fn": ml.float8_e4m3fn, "float8_e8m0fnu": ml.float8_e8m0fnu, "float4_e2m1fn": ml.float4_e2m1fn}
def read(x):
  raw = np.frombuffer(base64.b64decode(x["data"]), np.uint8)
  if x["dtype"] == "float4_e2m1fn":
    raw = np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)[:np.prod(x["shape"])]
  return raw.view(dtypes[x["dtype"]]).reshape(x["shape"])
sent = json.load(sys.stdin)
`
	cmd := exec.Command(name, "-c", before+script)
	cmd.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
}

// array is a tensor as JSON.
type array struct {
	Dtype string `json:"dtype"`
	Shape []int  `json:"shape"`
	Data  []byte `json:"data"` // base64
}

func arrayOf(x tile.Tensor) array { return array{x.Dtype.String(), x.Shape, x.Data} }

// TestRound_MLDtypes rounds numbers of every size, ties, infinities and NaN to the dtypes of block
// scales, and compares the codes with those of ml_dtypes.
func TestRound_MLDtypes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var list []float32
	for e := -149; e < 128; e++ {
		for _, m := range []float64{1, 1.125, 1.25, 1.4999999, 1.5, 1.5000001, 1.75, 1 + rng.Float64()} {
			list = append(list, float32(math.Ldexp(m, e)), -float32(math.Ldexp(m, e)))
		}
	}
	for range 4000 {
		list = append(list, float32(rng.NormFloat64()*3))
	}
	for x := float32(-8); x <= 8; x += 0.125 {
		list = append(list, x)
	}
	list = append(list, 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()))
	numbers := tile.NewTensor(tile.Float32, len(list))
	copy(numbers.Float32s(), list)
	var want map[string][]int
	python(t, `
x = read(sent)
print(json.dumps({d: x.astype(dtypes[d]).view(np.uint16 if d == "float16" else np.uint8).tolist() for d in ["float16", "float8_e8m0fnu", "float4_e2m1fn"]}))
`, arrayOf(numbers), &want)
	for name, codes := range want {
		d, err := tile.ParseDtype(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range list {
			got := tile.NewTensor(d, 1)
			got.Set(0, float64(x))
			code := int(got.Data[0])
			if d == tile.Float16 {
				code |= int(got.Data[1]) << 8
			}
			// ml_dtypes rounds what is between 1 and 1.5 times 2^-127 up.
			up := d == tile.Float8E8M0FNU && x > 0x1p-127 && x < 0x1.8p-127
			if code != codes[i] && !up && !(d == tile.Float16 && x != x) {
				t.Errorf("%s of %v: code %#x, ml_dtypes has %#x", d, x, code, codes[i])
			}
		}
	}
}

// reference computes products of operands whose groups have scales in float64, element by
// element of what they stand for.
const reference = `
out = []
for c in sent:
  arrays = {name: read(x).astype(np.float64) for name, x in c["arrays"].items()}
  a, b, size = arrays["a"], arrays["b"], c["group"]
  group = np.arange(a.shape[1]) // size
  b = b * arrays["sb"][:, 0, :][group, :]
  if "sa" in arrays: a = a * arrays["sa"][:, group]
  if "ta" in arrays: a = a * arrays["ta"]
  if "tb" in arrays: b = b * arrays["tb"]
  o = a @ b
  out.append({"want": [[None if v != v else v for v in row] for row in o.tolist()],
    "size": [[None if v != v else v for v in row] for row in (np.abs(a) @ np.abs(b)).tolist()]})
print(json.dumps(out))
`

// TestProducts_Python compares the interpreter with numpy on ragged shapes: tails of k that are
// no whole group, rows of zeros, NaN scales.
func TestProducts_Python(t *testing.T) {
	type one struct {
		Arrays map[string]array `json:"arrays"`
		Group  int              `json:"group"`
	}
	words := []string{"mxfp8", "mxfp4", "mxint8", "nvfp4", "mxfp8xmxfp4", "bfloat16xmxfp4", "bfloat16xnvfp4", "float32xmxfp8", "float16xmxint8"}
	rng := rand.New(rand.NewPCG(3, 4))
	var sent []one
	var names []string
	var got []tile.Tensor
	for n := range 200 / thoroughtest.OneIn(1, 2, 8) {
		word := words[n%len(words)]
		asked, err := problem.MatmulFamily.Parse(word + ":float32")
		if err != nil {
			t.Fatal(err)
		}
		p := problem.MakeMatmul(problem.Sizes{1 + rng.IntN(20), 1 + rng.IntN(150), 1 + rng.IntN(20), 1}, asked)
		scheme, err := p.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		group := scheme.Block
		programs, err := mx.Kernel.Build(p, "", tile.Blocks{M: 8, K: group * (1 + rng.IntN(3)), N: 8}.Clip(p.M, p.K, p.N))
		if err != nil {
			t.Fatal(p, err)
		}
		c := one{map[string]array{}, group}
		var in []tile.Tensor
		for _, r := range programs[len(programs)-1].Refs {
			if r.Kind != tile.In {
				continue
			}
			x := tile.NewTensor(r.Dtype, r.Array...)
			for i := range x.Len() {
				v := rng.NormFloat64() * 2
				switch {
				case r.Dtype == tile.Int8:
					v = float64(rng.IntN(256) - 128)
				case r.Name[0] == 's' || r.Name[0] == 't':
					v = math.Ldexp(1+rng.Float64(), rng.IntN(12)-6)
				case r.Name == "a" && i/p.K%5 == 3:
					v = 0
				}
				x.Set(i, v)
			}
			if n%7 == 5 && r.Name == "sb" {
				x.Set(rng.IntN(x.Len()), math.NaN())
			}
			in = append(in, x)
			c.Arrays[r.Name] = arrayOf(x)
		}
		out, err := interp.Run(context.Background(), programs, in)
		if err != nil {
			t.Fatal(p, err)
		}
		sent, names, got = append(sent, c), append(names, fmt.Sprint(word, " ", p.Shape())), append(got, out[0])
	}
	var want []struct{ Want, Size [][]*float64 }
	python(t, reference, sent, &want)
	for n, w := range want {
		wrong := 0
		for i, row := range w.Want {
			for j, v := range row {
				x := got[n].At(i*len(row) + j)
				if v == nil && x != x || v != nil && math.Abs(x-*v) <= 40*0x1p-24*(*w.Size[i][j])+0x1p-100 {
					continue
				}
				if wrong++; wrong == 1 {
					t.Errorf("%s: o[%d, %d] is %v, numpy has %v", names[n], i, j, x, v)
				}
			}
		}
	}
}

// TestQuantize_Python compares scales and codes of groups with the rules of the OCP specification
// and NVIDIA's, in numpy.
func TestQuantize_Python(t *testing.T) {
	const rows, cols = 40, 96
	rng := rand.New(rand.NewPCG(5, 6))
	x := tile.NewTensor(tile.Float32, rows, cols)
	for i := range x.Len() {
		v := rng.NormFloat64() * math.Exp2(float64(i/cols%20)-10)
		if i/cols%8 == 7 {
			v = 0
		}
		x.Set(i, v)
	}
	var want map[string]struct{ Scales, Codes []int }
	python(t, `
x = read(sent)
top = {"float8_e4m3fn": 448.0, "float4_e2m1fn": 6.0, "int8": 127.0}
def codes(v, d):
  if d == "int8": return np.clip(np.rint(v), -128, 127).astype(np.int8).view(np.uint8)
  return np.clip(v, -top[d], top[d]).astype(dtypes[d]).view(np.uint8)
out = {}
for d in top:
  g = x.reshape(x.shape[0], -1, 32)
  amax = np.abs(g).max(axis=2)
  for name in ["e8m0", "e8m0_up"]:
    with np.errstate(divide="ignore"):
      e = np.floor(np.log2(amax)) - np.floor(np.log2(top[d]))
      if name == "e8m0_up": e = np.ceil(np.log2((amax * np.float32(1 / top[d])).astype(np.float64)))
    scale = np.exp2(np.maximum(e, -126)).astype(np.float32)
    out[d + " " + name] = {"Scales": scale.astype(ml.float8_e8m0fnu).view(np.uint8).ravel().tolist(), "Codes": codes(g / scale[:, :, None], d).ravel().tolist()}
g = x.reshape(x.shape[0], -1, 16)
amax = np.abs(g).max(axis=2)
all_ = np.float32(np.abs(x).max()) * np.float32(1 / 6.0) * np.float32(1 / 448.0)
scale = np.clip(amax * np.float32(1 / 6.0) * (np.float32(1) / all_), np.float32(2.0**-6), np.float32(448)).astype(ml.float8_e4m3fn)
total = scale.astype(np.float32) * all_
out["float4_e2m1fn e4m3"] = {"Scales": scale.view(np.uint8).ravel().tolist(), "Codes": codes(g * (np.float32(1) / total)[:, :, None], "float4_e2m1fn").ravel().tolist()}
print(json.dumps(out))
`, arrayOf(x), &want)
	for name, w := range want {
		dtype, word, _ := strings.Cut(name, " ")
		d, err := tile.ParseDtype(dtype)
		if err != nil {
			t.Fatal(err)
		}
		q := problem.Quant("per_block32+token_block+" + word)
		if word == "e4m3" {
			q = "per_block16+token_block+e4m3"
		}
		scheme, err := q.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		g := quant.GroupingOf(scheme, true)
		if scheme.TwoLevels() {
			most := float32(0)
			for _, v := range x.Float32s() {
				most = max(most, v, -v)
			}
			g.All = quant.ScaleOfAll(most, d)
		}
		m, err := quanttest.Quantize(x, d, g)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range w.Scales {
			if int(m.Scales.Data[i]) != c {
				t.Errorf("%s: scale %d is %#x, numpy has %#x", name, i, m.Scales.Data[i], c)
			}
		}
		for i, c := range w.Codes {
			code := int(m.Codes.Data[i*d.Bits()/8])
			if d.Bits() == 4 {
				code = code >> (4 * (i % 2)) & 0xF
			}
			if code != c {
				t.Fatalf("%s: code %d of %v is %#x, numpy has %#x", name, i, x.At(i), code, c)
			}
		}
	}
}
