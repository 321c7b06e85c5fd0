package plugins

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/known"
)

// The SHA-256 that are known are in wheels.sha256; here is what they decide.

// names are the wheels of a version whose SHA-256 is known, sorted: those for p, or all if
// p is zero.
func (w Wheel) names(version string, p Platform) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w.SHA256)) {
		if n, ok := parseWheelName(name); ok && n.version == version && (p == Platform{} || n.runsOn(p)) {
			names = append(names, name)
		}
	}
	return names
}

// checkPinned returns an error unless the SHA-256 of some file of a version is known.
func (w Wheel) checkPinned(version string) error {
	if len(w.names(version, Platform{})) > 0 {
		return nil
	}
	var versions []string
	for name := range w.SHA256 {
		if n, ok := parseWheelName(name); ok && !slices.Contains(versions, n.version) {
			versions = append(versions, n.version)
		}
	}
	slices.SortFunc(versions, compareVersions)
	return fmt.Errorf("version %s of %s is not pinned: no SHA-256 of it is known here (only of %s); --unpinned takes what the index offers",
		version, w.Project, strings.Join(versions, ", "))
}

// checkKnown returns why no file of a version can be taken on this machine, whatever the
// index offers, or nil.
func (in *installer) checkKnown(w Wheel, version string) error {
	if in.Unpinned {
		return nil
	}
	if err := w.checkPinned(version); err != nil {
		return err
	}
	if len(w.names(version, in.Platform)) == 0 {
		return fmt.Errorf("%s %s has no wheel for %s (there are %s)", w.Project, version, in.Platform, strings.Join(w.names(version, Platform{}), ", "))
	}
	return nil
}

// pick chooses, from the files that the index offers, the one for this machine whose whole
// name is known, and gives it the known SHA-256, which the download must have. If there is
// none, Options.Unpinned takes another file of that version (choose), with the index's
// SHA-256. A known name with another SHA-256 is never taken.
func (in *installer) pick(w Wheel, version string, offered []indexFile) (indexFile, error) {
	names := w.names(version, in.Platform)
	var known *indexFile
	for _, f := range offered {
		sum := w.SHA256[f.Name]
		if !slices.Contains(names, f.Name) {
			continue
		}
		if f.SHA256 != "" && f.SHA256 != sum {
			return indexFile{}, fmt.Errorf("the index offers another %s than the one known here (SHA-256 %s, not %s); nothing was installed", f.Name, f.SHA256, sum)
		}
		f.SHA256, f.pinned = sum, true
		known = &f
	}
	if known != nil {
		return *known, nil
	}
	f, err := choose(w.Project, offered, version, in.Platform)
	switch {
	case !in.Unpinned && err == nil:
		return indexFile{}, fmt.Errorf("the index does not offer %s, but %s, of which no SHA-256 is known here; nothing was installed (--unpinned takes it)", strings.Join(names, " or "), f.Name)
	case !in.Unpinned:
		return indexFile{}, fmt.Errorf("the index does not offer %s: %w", strings.Join(names, " or "), err)
	case err != nil:
		return indexFile{}, err
	}
	in.Notice(fmt.Sprintf("%s is not pinned: only the index %s says that it is what it should be (SHA-256 %s)", f.Name, in.index.Redacted(), f.SHA256))
	return f, nil
}

// Vouched returns nil if each wheel that i was made of is known by its name and
// SHA-256, or i was asked for as unpinned, and else which wheel is not known.
func (i Installed) Vouched() error {
	p, err := Lookup(i.Name)
	switch {
	case err != nil:
		return err
	case i.Unpinned:
		return nil
	case len(i.Wheels) == 0:
		return errors.New("it does not say what it was made of: install it again")
	}
	for _, s := range i.Wheels {
		known := slices.ContainsFunc(p.Wheels, func(w Wheel) bool { return s.SHA256 != "" && w.SHA256[s.File] == s.SHA256 })
		if !known {
			return fmt.Errorf("it was made of %s (SHA-256 %s), which is not known here: install it again", s.File, s.SHA256)
		}
	}
	return nil
}

// Verify reads every file of i and returns which of them has another content than
// when it was unpacked, or nil. Installations older than the sums have only sizes.
func (i Installed) Verify() error {
	if err := i.Damage(); err != nil {
		return err
	}
	for _, f := range i.Files {
		if f.SHA256 == "" {
			continue
		}
		sum, err := sumFile(filepath.Join(i.Root, filepath.FromSlash(f.Path)))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, reason(err))
		}
		if sum != f.SHA256 {
			return fmt.Errorf("%s is not what was installed (its SHA-256 is %s, not %s): install it again", f.Path, sum, f.SHA256)
		}
	}
	return nil
}

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
func Names() []string { return each.Of(Known, Plugin.name) }

func (p Plugin) name() string { return p.Name }

// Lookup returns the plugin of a name.
func Lookup(name string) (Plugin, error) { return known.Find("plugin", name, Known, Plugin.name) }
