package tuned

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

func device(t *testing.T, name string) machine.Device {
	t.Helper()
	d, ok := machine.Lookup(name)
	if !ok {
		t.Fatal(name)
	}
	return d
}

// asked parses what is asked of a product.
func asked(t *testing.T, text string) problem.Asked {
	t.Helper()
	a, err := problem.MatmulFamily.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mixtral is a layer of experts whose tables come with vLLM.
var mixtral = MoE{Experts: 8, TopK: 2, Hidden: 4096, Width: 7168}

// written writes what a table of v5's products of some dtypes has for a format on a chip, below a
// folder. Each row has block 64x32x256, and settings of a GPU; times are made up.
func written(t *testing.T, f Format, chip, folder string, dtypes []string, sizes ...problem.Sizes) (files []string) {
	t.Helper()
	d := device(t, chip)
	table := &Table{Machine: d.Key}
	for _, text := range dtypes {
		for _, s := range sizes {
			r := Row{Key: KeyOf("v5_quant", "", problem.MakeMatmul(s, asked(t, text))), Blocks: tile.Blocks{M: 64, K: 32, N: 256}}
			if d.Kind == machine.GPU {
				r.Params = "group=4 num_stages=3 num_warps=8 split_k=2"
			}
			table.Put(r)
			r.Kernel, r.Blocks.M = "v4_optblock", 1 // which no format takes
			table.Put(r)
		}
	}
	list, err := f.Entries(table, "v5_quant", d, mixtral, []int{1, 16, 4096})
	if err != nil {
		t.Fatal(err)
	}
	byFile := map[string][]Entry{}
	for i, e := range list {
		e.Best, e.Seconds, e.Told = e.Choices[0], 1e-3*float64(i+1), "1 ms “predicted”"
		byFile[e.File] = append(byFile[e.File], e)
	}
	for name, list := range byFile {
		text, evidence, err := f.Write(list, About{Command: `tune --out="x"`, Chip: d.Names[0], Mode: Predicted})
		if err != nil {
			t.Fatal(err)
		}
		var about struct {
			Command, Chip, Mode string
			Settings            []struct {
				Key, Told      string
				Seconds        float64
				DefaultSeconds *float64 `json:"default_seconds"`
			}
		}
		if err := json.Unmarshal([]byte(evidence), &about); err != nil || about.Chip != d.Names[0] || len(about.Settings) != len(list) || about.Settings[0].DefaultSeconds != nil || about.Settings[0].Key != list[0].Key {
			t.Errorf("%s: %v\n%s", name, err, evidence)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)

		back, others, err := f.Read(path, []byte(text), d, mixtral)
		if f == "triton" {
			continue
		}
		if err != nil || others != 0 || len(back) != len(list) {
			t.Fatalf("%s: %v, %d entries and %d others of %d", name, err, len(back), others, len(list))
		}
		for _, e := range back {
			i := slices.IndexFunc(list, func(x Entry) bool { return x.Key == e.Key })
			if i < 0 || e.Choices[0] != list[i].Best || !slices.Equal(e.Problems, list[i].Problems) || e.Default != list[i].Default {
				t.Errorf("%s: %s is read as %s of %v", name, e.Key, e.Choices, e.Problems)
			}
		}
	}
	return files
}

// reader runs a script of Python with the packages that it imports, and returns what it prints.
// Without them the test is skipped, and fails where MATLADDER_REQUIRE names the first.
func reader(t *testing.T, install, script string, args ...string) string {
	t.Helper()
	name := os.Getenv("MATLADDER_PYTHON")
	if name == "" {
		name = "python3"
	}
	const missing = "not installed"
	cmd := exec.Command(name, append([]string{"-c", `
import importlib.util, os, sys
def folder(package):
  spec = importlib.util.find_spec(package)
  if spec is None: sys.exit("` + missing + `")
  return list(spec.submodule_search_locations)[0]
` + script}, args...)...)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "PYTHONDONTWRITEBYTECODE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && (strings.Contains(stderr.String(), missing) || stderr.Len() == 0) {
		_, packages, _ := strings.Cut(install, "install ")
		for _, required := range strings.Split(os.Getenv("MATLADDER_REQUIRE"), ",") {
			if slices.ContainsFunc(strings.Fields(packages), func(p string) bool { p, _, _ = strings.Cut(p, "=="); return p == required }) {
				t.Fatalf("%s: %v", install, err)
			}
		}
		t.Skipf("not installed: %s, for MATLADDER_PYTHON", install)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// TestVLLM: the name of a file and the fields of a setting are those of vLLM 0.33.0
// (vllm/model_executor/layers/fused_moe/fused_moe.py; E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3.json
// comes with it in configs/), and its own get_moe_configs reads what is written.
func TestVLLM(t *testing.T) {
	folder := t.TempDir()
	sizes := slices.Concat(mixtral.Sizes(1), mixtral.Sizes(16), mixtral.Sizes(4096))
	if got := sizes[0]; got != (problem.Sizes{1, 4096, 14336, 2}) {
		t.Errorf("one token has %v", got)
	}
	files := written(t, "vllm-moe", "H100-SXM", folder, []string{"bfloat16", "float8_e4m3fn:per_channel+token", "int8:per_channel+token"}, sizes...)
	slices.Sort(files)
	for i, want := range []string{"E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8.json", "E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3.json"} {
		if len(files) != 2 || filepath.Base(files[i]) != want {
			t.Fatalf("%v, want %s", files, want)
		}
	}
	var all map[string]map[string]int
	text, err := os.ReadFile(files[1])
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	want := map[string]int{"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 4, "num_warps": 8, "num_stages": 3}
	if err != nil || len(all) != 3 || len(all["16"]) != len(want) {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, n := range want {
		if all["4096"][name] != n {
			t.Errorf("%s is %d, want %d", name, all["4096"][name], n)
		}
	}

	// Their functions run as they are, without the modules that they come with, which need a GPU.
	const script = `
import ast, functools, json, re, types
from typing import Any
root = folder("vllm")
names = dict(functools=functools, json=json, os=os, re=re, Any=Any, __file__=__file__ if "__file__" in globals() else "x",
  envs=types.SimpleNamespace(VLLM_BATCH_INVARIANT=False, VLLM_TUNED_CONFIG_FOLDER=sys.argv[1]),
  current_platform=types.SimpleNamespace(get_device_name=lambda *a: "NVIDIA H100 80GB HBM3", is_rocm=lambda: False),
  logger=types.SimpleNamespace(info_once=lambda *a, **k: None, warning_once=lambda *a, **k: None), vllm_is_batch_invariant=lambda: False)
names["get_device_name_as_file_name"] = lambda: re.sub(r"[\s/]+", "_", "NVIDIA H100 80GB HBM3")
wanted = ["get_config_file_name", "get_moe_configs", "get_default_config"]
for node in ast.parse(open(root + "/model_executor/layers/fused_moe/fused_moe.py").read()).body:
  if isinstance(node, ast.FunctionDef) and node.name in wanted:
    exec(compile(ast.Module([node], []), node.name, "exec"), names)
for dtype in None, "fp8_w8a8":
  got = names["get_moe_configs"](8, 7168, dtype)
  print(sorted(got), got[16]["BLOCK_SIZE_N"], got[4096]["num_warps"])
  for m in 1, 32, 33, 64, 96, 97, 128, 129, 512, 513, 4096:
    d = names["get_default_config"](m, 8, 7168, 4096, 2, dtype)
    print("%s %d %dx%dx%d group=%d num_stages=%d num_warps=%d" % (dtype, m, d["BLOCK_SIZE_M"], d["BLOCK_SIZE_K"], d["BLOCK_SIZE_N"], d["GROUP_SIZE_M"], d["num_stages"], d["num_warps"]))
`
	lines := strings.Split(reader(t, "python3 -m pip install --no-deps vllm==0.33.0", script, folder), "\n")
	for i, dtype := range []string{"bfloat16", "float8_e4m3fn:per_channel+token"} {
		lines := lines[12*i:]
		if lines[0] != "[1, 16, 4096] 256 8" {
			t.Errorf("%s is read as %s", dtype, lines[0])
		}
		for j, tokens := range []int{1, 32, 33, 64, 96, 97, 128, 129, 512, 513, 4096} {
			e, err := Format("vllm-moe").entry(device(t, "H100-SXM"), mixtral, tokens, problem.MakeMatmul(problem.Sizes{1, 1, 1, 1}, asked(t, dtype)))
			if err != nil || !strings.HasSuffix(lines[1+j], " "+e.Default.String()) {
				t.Errorf("the default is %s, here %s: %v", lines[1+j], e.Default, err)
			}
		}
	}
}

// TestTPUInference: tpu-inference's own get_tuned_block_sizes finds what is written, where its
// logger is another; the form is that of tuned_block_sizes.py of tpu-inference 0.32.0.
func TestTPUInference(t *testing.T) {
	files := written(t, "tpu-inference", "v6e", t.TempDir(), []string{"int8:per_channel+token", "float8_e4m3fn:per_channel+token", "bfloat16", "int8"}, problem.Sizes{1024, 8192, 1280, 1}, problem.Sizes{16, 4096, 14336, 1}, problem.Sizes{16, 4096, 4096, 2})
	if len(files) != 1 {
		t.Fatal(files)
	}
	text, err := os.ReadFile(files[0])
	for _, want := range []string{"TUNED_BLOCK_SIZES_RAW = {\n", "    (6, 1024, 1280, 8192, 'int8', 'int8'): (64, 256, 32),\n", "    (6, 16, 14336, 4096, 'float8_e4m3fn', 'float8_e4m3fn'): (64, 256, 32),\n"} {
		if err != nil || strings.Count(string(text), want) != 1 || strings.Count(string(text), "): (") != 4 {
			t.Errorf("%v, no %q in\n%s", err, want, text)
		}
	}
	const script = `
import types, logging
root = folder("tpu_inference")
for name in "tpu_inference", "tpu_inference.logger":
  sys.modules[name] = types.ModuleType(name)
class Quiet:
  def warning_once(self, *a): pass
sys.modules["tpu_inference.logger"].init_logger = lambda name: Quiet()
def load(name, path):
  spec = importlib.util.spec_from_file_location(name, path)
  module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); return module
theirs, ours = load("theirs", root + "/kernels/quantized_matmul/tuned_block_sizes.py"), load("ours", sys.argv[1])
print(theirs.TUNED_BLOCK_SIZES_RAW.keys() >= {(6, 1024, 1280, 8192, "int8", "int8")})
theirs.TUNED_BLOCK_SIZES = {theirs.TunedKey(*k): theirs.TunedValue(*v) for k, v in ours.TUNED_BLOCK_SIZES_RAW.items()}
theirs.jax = types.SimpleNamespace(devices=lambda: [types.SimpleNamespace(device_kind="TPU v6 lite")])
print(tuple(theirs.get_tuned_block_sizes(1024, 1280, 8192, "int8", "int8")), tuple(theirs.get_tuned_block_sizes(1, 2, 3, "int8", "int8")))
`
	if got := reader(t, "python3 -m pip install --no-deps tpu-inference==0.32.0", script, files[0]); got != "True\n(64, 256, 32, 1) (128, 128, 128, 1)" {
		t.Errorf("it reads %s", got)
	}
}

// TestTokamax: the cache of tokamax reads what is written, and a ragged_dot of equal groups finds
// its setting there, and otherwise takes the default that is given beside it.
func TestTokamax(t *testing.T) {
	folder := t.TempDir()
	sizes := []problem.Sizes{{64, 4096, 2048, 8}, {512, 4096, 2048, 1}, {8, 4096, 2048, 8}}
	files := slices.Concat(written(t, "tokamax", "H100-SXM", folder, []string{"bfloat16", "int8"}, sizes...), written(t, "tokamax", "v6e", folder, []string{"bfloat16"}, sizes...))
	for i, want := range []string{"/nvidia_h100_80gb_hbm3/pallas_triton_ragged_dot.json", "/tpu_v6_lite/pallas_mosaic_tpu_ragged_dot.json"} {
		if len(files) != 2 || !strings.HasSuffix(filepath.ToSlash(files[i]), want) {
			t.Fatalf("%v, want %s", files, want)
		}
	}
	const script = `
folder("tokamax")
import jax, jax.numpy as jnp, tokamax
from tokamax._src.autotuning import cache
from tokamax._src.ops.ragged_dot import base, pallas_triton, pallas_mosaic_tpu
def read(op, kind):
  try: return cache.AutotuningCache(op, paths=[sys.argv[1]])[kind]
  except TypeError: return cache.AutotuningCache(op)._load_cache(kind, [sys.argv[1]])
for op, kind in (pallas_triton.PallasTritonRaggedDot(), "NVIDIA H100 80GB HBM3"), (pallas_mosaic_tpu.PallasMosaicTpuRaggedDot(), "TPU v6 lite"):
  found = read(op, kind)
  print(len(found))
  shape = lambda *s: jax.ShapeDtypeStruct(s, jnp.bfloat16)
  bound = op.bind(shape(512, 4096), shape(8, 4096, 2048), group_sizes=base.GroupSizes(jax.ShapeDtypeStruct((8,), jnp.int32), 512))
  print(found[bound.autotuning_cache_key].fastest_config)
  print(op._get_heuristics_config(bound))
`
	want := `3
Config(block_m=64, block_n=256, block_k=32, split_k=2, num_warps=8, num_stages=3)
Config(block_m=128, block_n=128, block_k=32, split_k=1, num_warps=4, num_stages=4)
2
Config(tile_m=64, tile_k=32, tile_n=256, input_buffer_count=2, combine_scopes=False)
Config(tile_m=128, tile_k=128, tile_n=128, input_buffer_count=2, combine_scopes=False)`
	if got := reader(t, "python3 -m pip install -r tools/pallasref/requirements.txt -r tools/pallasref/requirements_tokamax.txt tokamax==0.0.12", script, folder); got != want {
		t.Errorf("it reads\n%s\nwant\n%s", got, want)
	}
	e, err := Format("tokamax").entry(device(t, "H100-SXM"), MoE{}, 0, problem.MakeMatmul(sizes[0], asked(t, "bfloat16")))
	if err != nil || e.Default.String() != "128x32x128 group=1 num_stages=4 num_warps=4" {
		t.Errorf("the default is %s, %v", e.Default, err)
	}
}

// TestTriton: Triton takes the configs.
func TestTriton(t *testing.T) {
	files := written(t, "triton", "H100-SXM", t.TempDir(), []string{"bfloat16", "float32"}, problem.Sizes{512, 4096, 2048, 1}, problem.Sizes{10, 4096, 2048, 1})
	const script = `
folder("triton")
import triton
text = {}
exec(open(sys.argv[1]).read(), text)
print(triton.autotune(configs=text["get_autotune_config"](), key=["M", "N", "K"]) is not None, len(text["configs"]))
for c in text["get_autotune_config"](): print(c.kwargs, c.num_warps, c.num_stages)
`
	if got := reader(t, "python3 -m pip install triton", script, files[0]); got != "True 4\n{'BLOCK_SIZE_M': 64, 'BLOCK_SIZE_N': 256, 'BLOCK_SIZE_K': 32, 'GROUP_SIZE_M': 4} 8 3" {
		t.Errorf("it reads %s", got)
	}
}

// TestRead: entries of others are read in each of their forms; those for other devices, and what is
// no entry, are told apart.
func TestRead(t *testing.T) {
	python := `# a comment
TUNED = {
    (6, 1024, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192),
    (6, 1024, 1280, 8192, 'int8', 'int4'): (1024, 256, 8192),
    (6, 0, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192),
    (6, 99999999999999999999, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192),
    TunedKey(7, 16, 28672, 4096, "float8_e4m3fn", "float8_e4m3fn",):
        TunedValue(16, 512, 4096, 1),
}`
	const plain = `\"ragged_dot_dimension_numbers\":{\"dot_dimension_numbers\":[[[1],[1]],[[],[]]]}`
	cache := `{"{` + plain + `,\"lhs\":\"bf16[100,64]\",\"rhs\":\"bf16[8,64,32]\"}": {"{\"block_n\":128,\"block_m\":16,\"block_k\":32}": {"evaluation_times_ms": [9, 2, 3]}, "{\"block_n\":64,\"block_m\":16,\"block_k\":32}": {"evaluation_times_ms": [2]}},
		"{` + plain + `,\"lhs\":\"bf16[100,64]\",\"rhs\":\"f32[8,64,32]\"}": {"{\"block_n\":128,\"block_m\":16,\"block_k\":32}": {"evaluation_times_ms": [1]}},
		"{\"lhs\":\"bf16[100,64]\"}": {}}`
	for _, test := range []struct {
		f                Format
		chip, name, text string
		others           int
		want             string // the first entry, or the error
	}{
		{"tpu-inference", "v6e", "t.py", python, 4, "1024x8192x256 of 1024x8192x1280 batch 1"},
		{"tpu-inference", "v7x", "t.py", python, 4, "16x4096x512 of 16x4096x28672 batch 1"},
		{"tpu-inference", "v6e", "t.py", "x = 3", 0, "t.py: no entries as tpu-inference writes them"},
		{"tokamax", "H100-SXM", "x/c.json", cache, 2, "16x32x64 group=1 of 13x64x32 batch 8"},
		{"tokamax", "v6e", "c.json", cache, 0, "c.json: no entries"},
		{"tokamax", "H100-SXM", "c.json", "[", 0, "c.json: want a JSON object: unexpected end"},
		{"vllm-moe", "H100-SXM", "E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3.json", `{"triton_version": "3", "64": {"BLOCK_SIZE_M": 16, "num_stages": 2, "BLOCK_SIZE_K": 32, "BLOCK_SIZE_N": 64, "GROUP_SIZE_M": 1, "num_warps": 4}, "x": 1}`, 2, "16x32x64 group=1 num_stages=2 num_warps=4 of 16x4096x14336 batch 8"},
		{"vllm-moe", "H100-SXM", "E=8,N=1.json", `{"64": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_K": 32, "BLOCK_SIZE_N": 64, "GROUP_SIZE_M": 1}}`, 0, "E=8,N=1.json: the file of this layer on NVIDIA H100 80GB HBM3 is E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3.json"},
	} {
		list, others, err := test.f.Read(test.name, []byte(test.text), device(t, test.chip), mixtral)
		got := ""
		if err != nil {
			got = err.Error()
		} else if len(list) > 0 {
			s := list[0].Problems[0].Sizes()
			got = list[0].Choices[0].String() + " of " + strings.ReplaceAll(problem.MatmulFamily.Joined(s), "×", "x") + " batch " + string(rune('0'+s[3]))
		}
		if !strings.HasPrefix(got, test.want) || others != test.others {
			t.Errorf("%s %s: %q and %d others, want %q and %d", test.f, test.name, got, others, test.want, test.others)
		}
	}
}
