package plugins

import (
	"fmt"
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
	{"cpu", "XLA on this machine's CPU", []Wheel{
		{"xla-cpu-pjrt", "0.0.1", sums(
			"xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl 8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
			"xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl 55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
		), []string{"xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"}},
	}},
	{"tpu", "XLA on a TPU (libtpu)", []Wheel{
		{"libtpu", "0.0.51", sums(
			"libtpu-0.0.42.1-cp311-cp311-manylinux_2_31_x86_64.whl 4d9975c446f594b0b517510b3db2fc9df65acd9a08f253c638fff5eb6bce163e",
			"libtpu-0.0.51-cp311-cp311-manylinux_2_31_x86_64.whl ba67ddbfdbac61c8da1fafc26cd51b93e9fe4d298016e2882eb986b1718cba34",
		), []string{"libtpu/libtpu.so"}},
	}},
	{"cuda", "XLA on an NVIDIA GPU (CUDA 13)", []Wheel{
		{"jax-cuda13-pjrt", "0.11.2", sums(
			"jax_cuda13_pjrt-0.11.2-py3-none-manylinux_2_27_aarch64.whl 63b55e50e5c2583a25e196ba06b034b63d2b2d8ad4c2f17935652c8d3ad2dd2d",
			"jax_cuda13_pjrt-0.11.2-py3-none-manylinux_2_27_x86_64.whl e5ff589d43064913bb74027682d89639c7ea48f9f81c2bae6fc75117e913f93e",
		), []string{"jax_plugins/xla_cuda13/xla_cuda_plugin.so"}},
		nvidia("nvidia-cublas", "13.1.0.3", "manylinux_2_27",
			"ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171", "c86fc7f7ae36d7528288c5d88098edcb7b02c633d262e7ddbb86b0ad91be5df2"),
		nvidia("nvidia-cuda-cupti", "13.0.85", "manylinux_2_25",
			"4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8", "796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151"),
		nvidia("nvidia-cuda-nvcc", "13.0.88", "manylinux2014",
			"56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03", "c7ff28f86a24effdc6c034fa15230c549a273e4771b10a7fec14996f8cf3307f", "ptxas", "nvlink"),
		nvidia("nvidia-cuda-nvrtc", "13.0.88", "manylinux2010",
			"ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575", "d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b"),
		nvidia("nvidia-cuda-runtime", "13.0.96", "manylinux2014",
			"7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548", "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55"),
		nvidia("nvidia-cudnn-cu13", "9.15.1.9", "manylinux_2_27",
			"ebc9a647918df0d7298d67cfaf41579fd4c78ead9aba246f5ad9414d61b9ec4c", "44cd2ec83c3ef62a7357614bd02ce7f3dac35ffcbb04ad20999e730741f0ba17"),
		nvidia("nvidia-cufft", "12.0.0.61", "manylinux2014",
			"6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3", "2708c852ef8cd89d1d2068bdbece0aa188813a0c934db3779b9b1faa8442e5f5"),
		nvidia("nvidia-cusolver", "12.0.4.66", "manylinux_2_27",
			"0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112", "02c2457eaa9e39de20f880f4bd8820e6a1cfb9f9a34f820eb12a155aa5bc92d2"),
		nvidia("nvidia-cusparse", "12.6.3.3", "manylinux2014",
			"2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b", "80bcc4662f23f1054ee334a15c72b8940402975e0eab63178fc7e670aa59472c"),
		nvidia("nvidia-nccl-cu13", "2.28.9", "manylinux_2_18",
			"e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42", "01c873ba1626b54caa12272ed228dc5b2781545e0ae8ba3f432a8ef1c6d78643"),
		nvidia("nvidia-nvjitlink", "13.0.88", "manylinux2010",
			"13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b", "e931536ccc7d467a98ba1d8b89ff7fa7f1fa3b13f2b0069118cd7f47bff07d0c"),
		nvidia("nvidia-nvshmem-cu13", "3.4.5", "manylinux2014",
			"290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80", "6dc2a197f38e5d0376ad52cd1a2a3617d3cdc150fd5966f4aee9bcebb1d68fe9", "libnvshmem_device.bc"),
		nvidia("nvidia-nvvm", "13.0.88", "manylinux2010",
			"c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0", "c4376a291d72d22a315d9d2f69bdae8f8cd83a627f75bad395cee49a0fe65dc1", "libdevice.10.bc"),
		// The one package that has NVIDIA's disassembler, which tells a kernel's
		// instructions. Nothing is run of Triton itself, whose compiler is in XLA.
		{"triton", "3.6.0", sums(
			"triton-3.6.0-cp310-cp310-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl 6c723cfb12f6842a0ae94ac307dba7e7a44741d720a40cf0e270ed4a4e3be781",
			"triton-3.6.0-cp310-cp310-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl a6550fae429e0667e397e5de64b332d1e5695b73650ee75a6146e2e902770bea",
		), []string{"nvdisasm"}},
	}},
}

// nvidia is a wheel with libraries for both architectures and, beside them, the
// files named more. Its file names spell old platform tags twice.
func nvidia(project, version, platform, amd64, arm64 string, more ...string) Wheel {
	second := map[string]string{"manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}
	file := func(platform, arch string) string {
		tag := platform + "_" + arch
		if s := second[platform]; s != "" {
			tag += "." + s + "_" + arch
		}
		return fmt.Sprintf("%s-%s-py3-none-%s.whl", strings.ReplaceAll(project, "-", "_"), version, tag)
	}
	arm := platform
	if arm == "manylinux2010" { // older than Linux on arm64
		arm = "manylinux2014"
	}
	return Wheel{project, version, map[string]string{file(platform, "x86_64"): amd64, file(arm, "aarch64"): arm64},
		slices.Concat(sharedObjects, more)}
}

// sums reads lines of a file name and its SHA-256.
func sums(lines ...string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		file, sum, _ := strings.Cut(line, " ")
		m[file] = sum
	}
	return m
}

// Names lists the plugins that can be installed.
func Names() []string { return known.Names(Known, Plugin.name) }

func (p Plugin) name() string { return p.Name }

// Lookup returns the plugin of a name.
func Lookup(name string) (Plugin, error) { return known.Find("plugin", name, Known, Plugin.name) }
