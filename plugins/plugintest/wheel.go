package plugintest

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
)

// Wheel packs files, by path, into a wheel.
func Wheel(files map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// CPUWheel is the name of a file for an architecture of the plugin cpu, at a
// version, and LibraryPath where the library is in it.
func CPUWheel(version, arch string) string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	return "xla_cpu_pjrt-" + version + "-py3-none-manylinux_2_27_" + machine + ".whl"
}

// LibraryPath is where the plugin cpu has its library.
const LibraryPath = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
