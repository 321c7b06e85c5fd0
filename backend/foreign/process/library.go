package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"matladder/internal/child"
	"matladder/internal/each"
)

// A Library is one that is installed on this machine.
type Library struct {
	Name   string // openblas, onednn, blis, mkl, libxsmm, torch
	Path   string // of the shared library, or of PyTorch's package
	kind   string // how the C program is to speak with it, kindTorch or kindPython
	python string // the interpreter that has it; "" for a shared library
}

// what it is, for people.
func (l Library) what() string {
	switch l.kind {
	case kindPython:
		return "file"
	case kindTriton:
		return "compiler for AMD's GPUs"
	}
	return "library"
}

// kindTorch is the name and the kind of PyTorch, which a Python program asks.
const kindTorch = "torch"

// library is what the package knows of one.
type library struct {
	name, kind string
	files      []string // patterns of the name of the shared library; in one folder, the first that is there
	install    string   // how to get it
}

var libraries = []library{
	{"openblas", "cblas", []string{"libopenblas.so.0", "libscipy_openblas.so", "libopenblas.so"},
		"apt-get install libopenblas0-pthread"},
	{"onednn", "onednn", []string{"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"},
		"apt-get install libdnnl2, or pip install onednn"},
	{"blis", "cblas", []string{"libblis.so.4", "libblis.so.3", "libblis.so"},
		"apt-get install libblis4-pthread"},
	{"mkl", "cblas", []string{"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"},
		"pip install mkl"},
	{"libxsmm", "xsmm", []string{"libxsmm.so.1", "libxsmm.so"},
		"apt-get install libxsmm-dev && gcc -shared -o /usr/local/lib/libxsmm.so -Wl,--whole-archive /usr/lib/libxsmm.a /usr/lib/libxsmmnoblas.a -Wl,--no-whole-archive -lm"},
	{"torch", kindTorch, []string{"python3*/site-packages/torch", "python3*/dist-packages/torch"},
		"python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch --index-url https://download.pytorch.org/whl/cpu, then --path /tmp/torch/lib"},
}

// Names lists the libraries that the package can run.
func Names() []string { return each.Of(libraries, func(l library) string { return l.name }) }

// Install says how to get a library, as a command line.
func Install(name string) string { return lookUp(name).install }

// lookUp returns what is known of a library; nothing of another name.
func lookUp(name string) (l library) {
	if i := slices.IndexFunc(libraries, func(l library) bool { return l.name == name }); i >= 0 {
		return libraries[i]
	}
	return l
}

// Find returns what is installed of a library: one in each of some folders and of
// those where libraries usually are, in that order, each file once.
func Find(name string, folders []string) []Library {
	asked := lookUp(name)
	var found []Library
	seen := map[string]bool{}
	for _, folder := range slices.Concat(folders, usualFolders()) {
		for _, file := range asked.files {
			paths, err := filepath.Glob(filepath.Join(folder, file))
			if err != nil || len(paths) == 0 {
				continue
			}
			l := Library{Name: name, Path: paths[0], kind: asked.kind}
			if l.kind == kindTorch {
				l.python = filepath.Join(folder, "..", "bin", "python3")
			}
			real, err := filepath.EvalSymlinks(l.Path)
			if err != nil || l.python != "" && !exists(l.python) {
				continue
			}
			if !seen[real] {
				seen[real] = true
				found = append(found, l)
			}
			break
		}
	}
	return found
}

// usualFolders are those that Find looks into: of the environment's search path, of an
// active Python or Conda environment, and of the system.
func usualFolders() []string {
	folders := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	for _, root := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(root); dir != "" {
			folders = append(folders, filepath.Join(dir, "lib"))
		}
	}
	folders = append(folders, "/usr/local/lib")
	for _, pattern := range []string{"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/opt/intel/oneapi/*/latest/lib"} {
		some, err := filepath.Glob(pattern)
		if err == nil {
			folders = append(folders, some...)
		}
	}
	return slices.DeleteFunc(folders, func(f string) bool { return f == "" })
}

// environment is what makes a library use a number of threads, and find what else
// it loads beside itself.
func (l Library) environment(threads int) []string {
	folder := filepath.Dir(l.Path)
	env := child.Threads(threads)
	if l.python != "" {
		// PyTorch's arrays are on large pages, as all others are; JAX takes no other device.
		env = append(env, "THP_MEM_ALLOC_ENABLE=1", "JAX_PLATFORMS=cpu")
	} else {
		env = append(env, "LD_LIBRARY_PATH="+folder)
	}
	// A oneDNN built for SYCL computes with an OpenCL driver, which has its own
	// number of threads and is not found unless it is registered.
	env = append(env, fmt.Sprintf("DPCPP_CPU_NUM_CUS=%d", threads))
	if driver := filepath.Join(folder, "libintelocl.so"); exists(driver) {
		env = append(env, "OCL_ICD_FILENAMES="+driver)
	}
	return env
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
