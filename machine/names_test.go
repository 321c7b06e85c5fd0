package machine

import (
	"strings"
	"testing"
)

// spelled lists how runtimes, clouds and tools write each device.
var spelled = map[string][]string{
	"tpu_v2": {"TPU v2", "v2", "v2-8", "tpu-v2-8"},
	"tpu_v3": {"TPU v3", "v3", "v3-8", "v3-128"},
	"tpu_v4": {"TPU v4", "v4", "v4-8", "v4:2x2x1", "tpu-v4-podslice"},
	"tpu_v5e": {"TPU v5 lite", "TPU v5e", "tpu_v5_lite", "v5e", "v5e:2x2", "v5e:16x16",
		"v5litepod", "v5litepod-1", "v5litepod-256", "tpu-v5-lite-podslice", "tpu-v5-lite-device"},
	"tpu_v5p":          {"TPU v5", "TPU v5p", "tpu_v5", "v5p", "v5p:2x2x1", "v5p-8", "tpu-v5p-slice"},
	"tpu_v6e":          {"TPU v6 lite", "TPU v6e", "tpu_v6_lite", "v6e", "v6e:2x2", "v6e-8", "tpu-v6e-8", "tpu-v6e-slice", "Trillium"},
	"tpu_v7x":          {"TPU7x", "TPU7", "tpu7x", "tpu7x:2x2x1", "tpu7x-8", "v7x", "Ironwood"},
	"tpu_8i":           {"TPU8i", "tpu8i", "v8i"},
	"tpu_8t":           {"TPU8t", "tpu8t", "v8t"},
	"nvidia_l4":        {"NVIDIA L4", "L4"},
	"nvidia_a100_40gb": {"NVIDIA A100-SXM4-40GB", "A100-40GB"},
	"nvidia_a100_80gb": {"NVIDIA A100-SXM4-80GB", "a100-80gb"},
	"nvidia_h100_sxm":  {"NVIDIA H100 80GB HBM3", "H100-SXM5"},
	"nvidia_h100_pcie": {"NVIDIA H100 PCIe"},
	"nvidia_rtx_a6000": {"NVIDIA RTX A6000", "A6000"},
	"nvidia_b200":      {"NVIDIA B200", "B200"},
	"nvidia_h200":      {"NVIDIA H200", "H200"},
	"nvidia_l40s":      {"NVIDIA L40S", "L40S"},
	"nvidia_b300":      {"NVIDIA B300 SXM6 AC", "B300"},
	"nvidia_gb200":     {"NVIDIA GB200", "GB200"},

	"nvidia_rtx_pro_6000_server": {"NVIDIA RTX PRO 6000 Blackwell Server Edition"},
	"amd_mi300x":                 {"AMD Instinct MI300X", "mi300x"},
	"amd_mi325x":                 {"AMD Instinct MI325X", "mi325x"},
	"amd_mi350x":                 {"AMD Instinct MI350X", "mi350x"},
	"amd_mi355x":                 {"AMD Instinct MI355X", "mi355x"},
}

func TestLookupFindsEverySpelling(t *testing.T) {
	for key, names := range spelled {
		for _, n := range names {
			for _, form := range []string{n, strings.ToUpper(n), "  " + strings.ReplaceAll(n, " ", "_") + " "} {
				if d, err := Find(form); err != nil || d.Key != key {
					t.Errorf("Find(%q) = %q, %v; want %s", form, d.Key, err, key)
				}
			}
		}
	}
	for _, d := range All() {
		if spelled[d.Key] == nil {
			t.Errorf("%s: no spelling is tested", d.Key)
		}
		for _, n := range append(d.Names, d.Key) {
			if got, ok := Lookup(n); !ok || got.Key != d.Key {
				t.Errorf("Lookup(%q) = %q; want %s", n, got.Key, d.Key)
			}
		}
	}
}

func TestFindRefusesAmbiguousAndUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"v5":      `device "v5" may be tpu_v5e or tpu_v5p: name one`,
		"V5:2x2":  "may be tpu_v5e or tpu_v5p",
		"v5-8":    "may be tpu_v5e or tpu_v5p",
		"A100":    "may be nvidia_a100_40gb or nvidia_a100_80gb",
		"H100":    "may be nvidia_h100_sxm or nvidia_h100_pcie",
		"TPU v9":  `device "TPU v9" is unknown: known are amd_mi300x, `,
		"":        `device "" is unknown`,
		"TPU":     "is unknown",
		"v5e:":    "is unknown",
		"v5e:2xx": "is unknown",
		"v5e-0":   "is unknown",
		"-8":      "is unknown",
		":2x2":    "is unknown",
	} {
		if d, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q) = %q, %v; want error with %q", name, d.Key, err, want)
		}
		if d, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %s; want none", name, d.Key)
		}
	}
}
