// Package plugin is command plugin: it installs PJRT plugins and says what works.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

const usage = `usage: plugin list
       plugin install cpu|tpu|cuda [--version V] [--unpinned] [--index-url URL]
       plugin install cpu|tpu|cuda --from SITE-PACKAGES
       plugin doctor [--timeout 1m] [cpu|tpu|cuda|LIBRARY...]
`

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
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
