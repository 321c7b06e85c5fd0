package plugins

import (
	"os"
	"path/filepath"
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
