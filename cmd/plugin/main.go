// Plugin installs PJRT plugins, through which bench reaches XLA on this machine's
// CPU, on a TPU or on an NVIDIA GPU, and says what works. None is needed to
// measure the ladder on the CPU; with the plugin cpu, bench measures XLA's matmul
// beside it.
//
//	go run ./cmd/plugin install cpu
//
// # Installing
//
// A plugin is made of wheels of the Python package index; Python itself is not
// needed. The versions are pinned: only files whose names and SHA-256 this program
// knows are taken, whatever the index offers, and nothing is loaded before they hold;
// flag --version chooses among those that it knows. --unpinned takes what it does not
// know as well, another version or another file, on the word of the index alone; it
// says so, and so does list. Downloads go on where an interrupted one stopped; a
// plugin is put in place whole or not at all.
//
//	cpu    60 MB   Linux on amd64 and arm64
//	tpu   200 MB   Linux on amd64
//	cuda  2.2 GB   Linux on amd64 and arm64, with CUDA 13 but for the driver
//
// --from SITE-PACKAGES takes a plugin out of packages that a Python on this machine has
// (pip show -f jax-cuda13-pjrt says where), for machines that reach no index: as links, on
// nobody's word.
//
// Plugins live in the user's cache folder, or in the one that MATLADDER_PLUGINS
// names. The index is the one of --index-url, or PIP_INDEX_URL, or pypi.org.
// HTTPS_PROXY and NO_PROXY are honoured, and certificates named by SSL_CERT_FILE,
// PIP_CERT, REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE are trusted.
//
//	$ plugin install gpu
//	plugin: unknown plugin "gpu" (known: cpu, tpu, cuda)
//
//	$ plugin install cpu --version 0.0.2
//	plugin: install: version 0.0.2 of xla-cpu-pjrt is not pinned: no SHA-256 of it is known here (only of 0.0.1); --unpinned takes what the index offers
//
//	$ plugin install cpu --index-url ftp://example.org
//	plugin: install: the index URL must begin with http:// or https:// and a host
//
// # What is there
//
// List shows what is installed and the version of the PJRT interface it has:
//
//	$ plugin list
//	no plugins in …
//	  cpu   XLA on this machine's CPU       go run ./cmd/plugin install cpu
//	  tpu   XLA on a TPU (libtpu)           go run ./cmd/plugin install tpu
//	  cuda  XLA on an NVIDIA GPU (CUDA 13)  go run ./cmd/plugin install cuda
//
// Doctor compares each plugin's files with what was installed, loads it in a process
// of its own, which may crash or hang (--timeout), creates a client, and says what
// works and what is missing. It takes names of plugins, and paths of libraries (./cpu
// where one is called so):
//
//	$ plugin doctor go.mod
//	go.mod
//	  library  not a shared library (no ELF header)
//
// # Exit status
//
// 0 if all went well; a device that this machine lacks is no failure. 1 if an
// installation failed or a plugin is damaged, crashes or hangs; 2 for a mistake
// in the command; 130 after Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/internal/cli"
	"matladder/plugins/probe"

	"github.com/spf13/pflag"
)

func main() {
	probe.Child()
	cli.Main("plugin", run)
}

const usage = `usage: plugin list
       plugin install cpu|tpu|cuda [--version V] [--unpinned] [--index-url URL]
       plugin install cpu|tpu|cuda --from SITE-PACKAGES
       plugin doctor [--timeout 1m] [cpu|tpu|cuda|LIBRARY...]
`

// run is the program: results go to stdout, progress and errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, usage)
	}
	return cli.End("plugin", err, "interrupted; the same command goes on", stderr)
}

// dispatch runs one of the three commands.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return cli.Usagef("which command? list, install or doctor (--help says more)")
	}
	switch command := args[0]; command {
	case "list":
		return list(args[1:], stdout)
	case "install":
		return install(ctx, args[1:], stdout, stderr)
	case "doctor":
		return doctor(ctx, args[1:], stdout)
	case "help", "-h", "--help":
		return pflag.ErrHelp
	default:
		return cli.Usagef("unknown command %q (known: list, install, doctor)", command)
	}
}
