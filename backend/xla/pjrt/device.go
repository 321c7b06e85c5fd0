package pjrt

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"matladder/machine"
)

// Kind is the kind of device behind a platform that a plugin names.
func kind(platform string) string {
	switch p := strings.ToLower(platform); p {
	case "tpu":
		return machine.TPU
	case "cuda", "rocm", "gpu":
		return machine.GPU
	case "cpu", "host":
		return machine.CPU
	default:
		return p
	}
}

// tpuVersion is how libtpu's platform version names the chip: "TFRT TPU v5 lite".
var tpuVersion = regexp.MustCompile(`TPU ?(v?\d+\w*(?: lite\b)?)`)

// chipName is the name of the chip as the plugin gives it, in the kind of the
// device or the version of the platform, or as the system does; "" if none does.
func chipName(platform, deviceKind, version string) string {
	switch kind(platform) {
	case machine.TPU:
		for _, text := range []string{deviceKind, version} {
			if m := tpuVersion.FindStringSubmatch(text); m != nil {
				return "TPU " + m[1]
			}
		}
	case machine.GPU:
		if deviceKind != "" {
			return deviceKind
		}
		files, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				if name, ok := strings.CutPrefix(line, "Model:"); ok {
					return strings.TrimSpace(name)
				}
			}
		}
	}
	return ""
}

// describe returns the chip of a name; what the table does not have is unknown.
func describe(platform, name string) machine.Device {
	for _, n := range []string{name, strings.TrimPrefix(name, "NVIDIA ")} {
		if d, ok := machine.Lookup(n); ok && n != "" {
			return d
		}
	}
	name = cmp.Or(name, "unknown "+platform)
	key := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}), "_")
	return machine.Device{
		Key: key, Names: []string{name}, Kind: kind(platform), Parallel: 1, DevicesPerChip: 1,
		Note: "not in the chip table", Peak: map[string]machine.Figure{},
	}
}
