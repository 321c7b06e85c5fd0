package plugins

import (
	_ "embed"
	"slices"
	"strings"

	"matladder/internal/known"
)

// Plugin is one of the plugins that can be installed.
type Plugin struct {
	Name   string // cpu, tpu, cuda
	Title  string
	Wheels []Wheel // the first has the library and gives the plugin its version
}

// Wheel is one package of the index and what of it is unpacked, beside licences.
type Wheel struct {
	Project string
	Version string            // the one installed if no other is asked for
	SHA256  map[string]string // of each file that is known, of that version and others, by name
	Keep    []string          // patterns of path.Match, on the whole path or on its end
}

// Library is the path of the plugin itself inside its first wheel.
func (p Plugin) Library() string { return p.Wheels[0].Keep[0] }

// sharedObjects are the libraries of a wheel, wherever they are.
var sharedObjects = []string{"*.so", "*.so.*"}

// Known is the table of plugins. The NVIDIA wheels are what XLA asks for of
// CUDA 13.0, the oldest that the plugin takes, since drivers run older releases
// of CUDA but not newer; the compiler's own programs are kept with them.
var Known = []Plugin{
	{"cpu", "XLA on this machine's CPU", []Wheel{wheel("xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")}},
	{"tpu", "XLA on a TPU (libtpu)", []Wheel{wheel("libtpu", "0.0.51", "libtpu/libtpu.so")}},
	{"cuda", "XLA on an NVIDIA GPU (CUDA 13)", []Wheel{
		wheel("jax-cuda13-pjrt", "0.11.2", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
		nvidia("cublas", "13.1.0.3"),
		nvidia("cuda-cupti", "13.0.85"),
		nvidia("cuda-nvcc", "13.0.88", "ptxas", "nvlink"),
		nvidia("cuda-nvrtc", "13.0.88"),
		nvidia("cuda-runtime", "13.0.96"),
		nvidia("cudnn-cu13", "9.15.1.9"),
		nvidia("cufft", "12.0.0.61"),
		nvidia("cusolver", "12.0.4.66"),
		nvidia("cusparse", "12.6.3.3"),
		nvidia("nccl-cu13", "2.28.9"),
		nvidia("nvjitlink", "13.0.88"),
		nvidia("nvshmem-cu13", "3.4.5", "libnvshmem_device.bc"),
		nvidia("nvvm", "13.0.88", "libdevice.10.bc"),
		// The one package that has NVIDIA's disassembler, which tells a kernel's
		// instructions. Nothing is run of Triton itself, whose compiler is in XLA.
		wheel("triton", "3.6.0", "nvdisasm"),
	}},
}

// wheelSums is what sha256sum prints of the wheels that are known, of these versions and others.
//
//go:embed wheels.sha256
var wheelSums string

func wheel(project, version string, keep ...string) Wheel {
	sums := map[string]string{}
	for line := range strings.Lines(wheelSums) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if name, ok := parseWheelName(file); ok && name.project == project {
			sums[file] = sum
		}
	}
	return Wheel{project, version, sums, keep}
}

// nvidia is a wheel with libraries and, beside them, the files named more.
func nvidia(project, version string, more ...string) Wheel {
	return wheel("nvidia-"+project, version, slices.Concat(sharedObjects, more)...)
}

// Names lists the plugins that can be installed.
func Names() []string { return known.Names(Known, Plugin.name) }

func (p Plugin) name() string { return p.Name }

// Lookup returns the plugin of a name.
func Lookup(name string) (Plugin, error) { return known.Find("plugin", name, Known, Plugin.name) }
