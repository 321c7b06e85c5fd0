package plugins

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Environment is what a process that loads the plugin needs in its environment to
// find what was unpacked beside it: libraries, programs, and for XLA's compiler
// the files of CUDA. What is set already comes behind.
func (i Installed) Environment() []string {
	var libraries, programs []string
	var cuda string
	for _, f := range i.Files {
		path := filepath.Join(i.Root, filepath.FromSlash(f.Path))
		switch base := filepath.Base(path); {
		case strings.Contains(base, ".so"):
			libraries = append(libraries, filepath.Dir(path))
		case base == "ptxas" || base == "nvlink":
			programs = append(programs, filepath.Dir(path))
		case base == "libdevice.10.bc": // of CUDA's folder, nvvm/libdevice
			cuda = filepath.Dir(filepath.Dir(filepath.Dir(path)))
		}
	}
	var env []string
	add := func(name, separator string, more []string) {
		if had := os.Getenv(name); had != "" {
			more = append(more, had)
		}
		env = append(env, name+"="+strings.Join(more, separator))
	}
	if libraries = unique(libraries); len(libraries) > 1 {
		add("LD_LIBRARY_PATH", ":", libraries)
	}
	if programs = unique(programs); len(programs) > 0 {
		add("PATH", ":", programs)
	}
	if cuda != "" {
		add("XLA_FLAGS", " ", []string{"--xla_gpu_cuda_data_dir=" + cuda})
	}
	return env
}

// Tool is the path of a program that was unpacked with the plugin, "" if there is
// none of that name.
func (i Installed) Tool(name string) string {
	for _, f := range i.Files {
		if filepath.Base(filepath.FromSlash(f.Path)) == name {
			return filepath.Join(i.Root, filepath.FromSlash(f.Path))
		}
	}
	return ""
}

func unique(folders []string) []string {
	slices.Sort(folders)
	return slices.Compact(folders)
}

// devices are what plugins need: patterns of files of which a machine that has it has one.
var devices = map[string]struct {
	files   []string
	missing string // what is said where there is none
}{
	"tpu":  {[]string{"/dev/accel[0-9]*", "/dev/vfio/[0-9]*"}, "no TPU here (neither /dev/accel* nor /dev/vfio/*)"},
	"cuda": {[]string{"/dev/nvidia[0-9]*", "/dev/dxg"}, "no NVIDIA GPU or driver here (no /dev/nvidia*)"},
}

// MissingDevice returns what a plugin's device would need of this machine and is
// not there, "" if nothing is missing. It only looks for files, and at once.
func MissingDevice(name string) string {
	for _, p := range devices[name].files {
		if found, _ := filepath.Glob(p); len(found) > 0 {
			return ""
		}
	}
	return devices[name].missing
}

// driverVersion is what NVIDIA's driver says of itself: NVRM version: NVIDIA UNIX
// x86_64 Kernel Module  580.159.04 …
var driverVersion = regexp.MustCompile(`(?:Kernel Module|Module for \S+)\s+([0-9.]+)`)

// leastDriver is the branch of the driver that CUDA 13.0 needs.
const leastDriver = "580"

// Driver returns the version of the driver of a plugin's device, and what is wrong
// with it if the plugin needs another; "" where it does not say.
func Driver(name string) string {
	if name != "cuda" {
		return ""
	}
	text, _ := os.ReadFile("/proc/driver/nvidia/version")
	return driver(string(text))
}

func driver(text string) string {
	m := driverVersion.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if compareVersions(m[1], leastDriver) < 0 {
		return m[1] + ", too old: CUDA 13 needs " + leastDriver + " or newer"
	}
	return m[1]
}

// Environment returns what must be in the environment, as k=v, before a plugin is
// loaded where its device is missing.
func Environment(name string) []string {
	if name == "tpu" && MissingDevice(name) != "" {
		return []string{"TPU_SKIP_MDS_QUERY=1"} // libtpu waits for a cloud's metadata server for ever
	}
	return nil
}
