package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/machine"
)

// Triton's kernels in the wheel are those of layers of experts: two products, one after the other, of each
// expert's rows. sglang's own wheel has the blocks of each, by GPU, experts and columns, or a rule.

// tritonGPU is a GPU whose layers of experts sglang multiplied with Triton.
type tritonGPU struct {
	folder, version, device, config string
	unit                            string
	shared, threads                 int // of a multiprocessor
}

var tritonGPUs = []tritonGPU{
	{"a100_sxm", "0.5.10", "nvidia_a100_80gb", "NVIDIA_A100-SXM4-80GB", "mma", 167936, 2048},
	{"h100_sxm", "0.5.14", "nvidia_h100_sxm", "NVIDIA_H100_80GB_HBM3", "wgmma", 233472, 2048},
	{"h200_sxm", "0.5.14", "nvidia_h200", "NVIDIA_H200", "wgmma", 233472, 2048},
	{"l40s", "0.5.14", "nvidia_l40s", "NVIDIA_L40S", "mma", 102400, 1536},
	{"b200_sxm", "0.5.14", "nvidia_b200", "NVIDIA_B200", "tcgen05", 233472, 2048},
	{"rtx_pro_6000_server", "0.5.14", "nvidia_rtx_pro_6000_server", "NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition", "mma", 102400, 1536},
}

// blocks are how sglang launches a product of experts.
type blocks struct {
	M      int `json:"BLOCK_SIZE_M"`
	N      int `json:"BLOCK_SIZE_N"`
	K      int `json:"BLOCK_SIZE_K"`
	Group  int `json:"GROUP_SIZE_M"`
	Warps  int `json:"num_warps"`
	Stages int `json:"num_stages"`
}

var tritonVersion = regexp.MustCompile(`configs/triton_(\d+)_(\d+)_(\d+)/`)

// configs reads all tables of blocks of sglang's wheel, of each the one for the newest Triton.
func configs(archive *zip.Reader) (map[string]map[string]blocks, error) {
	all, newest := map[string]map[string]blocks{}, map[string]string{}
	for _, f := range archive.File {
		v := tritonVersion.FindStringSubmatch(f.Name)
		if v == nil || path.Ext(f.Name) != ".json" || !strings.Contains(f.Name, "moe") {
			continue
		}
		name, version := path.Base(f.Name), v[1]+v[2]+v[3]
		if version <= newest[name] {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		var table map[string]json.RawMessage
		if err := json.Unmarshal(content, &table); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all[name], newest[name] = map[string]blocks{}, version
		for rows, text := range table {
			b := blocks{Warps: 4, Stages: 3}
			if json.Unmarshal(text, &b) == nil && b.M > 0 {
				all[name][rows] = b
			}
		}
	}
	return all, nil
}

// of is what sglang chooses (get_moe_configs and get_default_config of fused_moe_triton_config.py).
func (g tritonGPU) of(tables map[string]map[string]blocks, experts, columns, tokens int, float8 bool) blocks {
	suffix := ""
	if float8 {
		suffix = ",dtype=fp8_w8a8,block_shape=[128, 128]"
	}
	table := tables[fmt.Sprintf("E=%d,N=%d,device_name=%s%s.json", experts, columns, g.config, suffix)]
	best, near := blocks{}, math.MaxInt
	for _, rows := range slices.Sorted(maps.Keys(table)) {
		n, err := strconv.Atoi(rows)
		if away := max(n-tokens, tokens-n); err == nil && away < near {
			best, near = table[rows], away
		}
	}
	switch {
	case near < math.MaxInt:
		return best
	case float8:
		return blocks{64, 128, 128, 32, 4, 3}
	case tokens <= experts:
		return blocks{16, 32, 64, 1, 4, 3}
	}
	return blocks{64, 64, 32, 8, 4, 3}
}

// perCore estimates how many blocks share a multiprocessor, from the stages that Triton keeps in shared
// memory and from the accumulator in registers: nobody published what these kernels were compiled to.
func (g tritonGPU) perCore(b blocks, element int) int {
	stages, registers := b.Stages, b.M*b.N/(32*b.Warps)+40
	switch {
	case g.unit == "mma" || b.M < 64:
		stages, registers = max(1, b.Stages-1), registers+30 // the operands of the next product are in registers
	case g.unit == "tcgen05":
		registers = b.M*b.N/(64*b.Warps) + 40 // the accumulator is in tensor memory, until half of it at a time is stored
	}
	registers = min(255, (registers+7)/8*8)
	return max(1, min(g.threads/(32*b.Warps), 65536/(32*b.Warps*registers), g.shared/(stages*element*b.K*(b.M+b.N)+1024), 32))
}

// tritonRows lists layers of experts that Triton multiplied: of each GPU and dtype some, by hash, as
// evenly over the blocks as there are rows. Half are to be fitted.
func tritonRows(wheel *zip.Reader, sglang map[string]*zip.Reader) (string, error) {
	type layer struct {
		Source  string  `parquet:"kernel_source"`
		Dtype   string  `parquet:"moe_dtype"`
		Tokens  int64   `parquet:"num_tokens"`
		Hidden  int64   `parquet:"hidden_size"`
		Inner   int64   `parquet:"inter_size"`
		TopK    int64   `parquet:"topk"`
		Experts int64   `parquet:"num_experts"`
		TP      int64   `parquet:"moe_tp_size"`
		EP      int64   `parquet:"moe_ep_size"`
		Spread  string  `parquet:"distribution"`
		Latency float64 `parquet:"latency"` // ms
	}
	out := "chip,source,unit,dtype,blocks,group,occupancy,products,other_us,measured_us\n"
	for _, g := range tritonGPUs {
		chip, err := machine.Find(g.device)
		if err != nil {
			return "", err
		}
		tables, err := configs(sglang[g.version])
		if err != nil {
			return "", err
		}
		name := wheelData + path.Join(g.folder, "moe/sglang", g.version, "moe_perf.parquet")
		i := slices.IndexFunc(wheel.File, func(f *zip.File) bool { return f.Name == name })
		if i < 0 {
			return "", fmt.Errorf("the wheel has no %s", name)
		}
		rows, err := readRows[layer](wheel.File[i])
		if err != nil {
			return "", err
		}
		for _, dtype := range []string{"bfloat16", "fp8_block"} {
			element, label := 2, "bfloat16"
			if dtype == "fp8_block" {
				element, label = 1, "float8_e4m3fn"
			}
			byBlocks := map[string][]string{}
			for _, r := range rows {
				if r.Source != "sglang_fused_moe_triton" || r.Dtype != dtype || r.Spread != "balanced" || r.EP != 1 || r.Latency < .3 || r.Latency > 8 || r.Tokens*r.TopK%r.Experts != 0 || r.Tokens*r.TopK/r.Experts < 16 {
					continue
				}
				inner, gated := r.Inner/r.TP, int64(2)
				if r.Hidden == 2688 { // Nemotron's experts have no gate
					gated = 1
				}
				b := g.of(tables, int(r.Experts), int(inner), int(r.Tokens), element == 1)
				per := r.Tokens * r.TopK / r.Experts
				// Beside the products: the activation, the sum over experts, and the quantization of both inputs.
				moved := 2*float64(r.Tokens*r.TopK*inner*(1+gated)) + 2*float64(r.Tokens*r.Hidden*(r.TopK+1))
				if element == 1 {
					moved += 3 * float64(r.Tokens*r.Hidden+r.Tokens*r.TopK*inner)
				}
				unit := g.unit
				if b.M < 64 { // the wider units have at least as many rows
					unit = "mma"
				}
				line := fmt.Sprintf("%s,sglang %s,%s,%s,%dx%dx%d,%d,%d,%d*%dx%dx%d+%d*%dx%dx%d,%.0f,%.1f\n", g.device, g.version, unit, label,
					b.M, b.K, b.N, b.Group, g.perCore(b, element), r.Experts, per, r.Hidden, gated*inner, r.Experts, per, inner, r.Hidden,
					moved/chip.AttainedBytesPerSecond.Value*1e6, r.Latency*1e3)
				byBlocks[fmt.Sprint(b)] = append(byBlocks[fmt.Sprint(b)], line)
			}
			for _, lines := range byBlocks {
				slices.SortFunc(lines, func(a, b string) int { return int(hash(a)>>1) - int(hash(b)>>1) })
			}
			var chosen []string
			for at, some := 0, true; some && len(chosen) < 60; at++ {
				some = false
				for _, b := range slices.Sorted(maps.Keys(byBlocks)) {
					if lines := byBlocks[b]; at < len(lines) {
						chosen, some = append(chosen, lines[at]), true
					}
				}
			}
			chosen = chosen[:min(60, len(chosen))]
			slices.Sort(chosen)
			out += strings.Join(slices.Compact(chosen), "")
		}
	}
	return out, nil
}

func hash(s string) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, s)
	return h.Sum32()
}
