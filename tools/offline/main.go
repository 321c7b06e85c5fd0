// Offline packs the repository, its modules, its pages and plugins that are installed here into an
// archive from which the workshop builds without a network.
//
//	go run ./tools/offline out/matladder.tar.gz --plugin tpu
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"matladder/internal/cli"
)

func main() { cli.Main("offline", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("offline", offline(ctx, args, stdout), "interrupted", stdout, stderr)
}

func offline(ctx context.Context, args []string, stdout io.Writer) error {
	f := cli.NewFlags("offline")
	names := f.StringArray("plugin", nil, "pack the `PLUGIN` that is installed here; may be repeated")
	if err := cli.Parse(f, args, "usage: offline FILE [--plugin PLUGIN]"); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return cli.Usagef("want one file, as in: go run ./tools/offline out/matladder.tar.gz --plugin tpu")
	}
	contents, err := pack(ctx, ".", f.Arg(0), *names)
	if err != nil {
		return err
	}
	for _, line := range contents {
		fmt.Fprintln(stdout, line)
	}
	info, err := os.Stat(f.Arg(0))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %.1f MB; unpacked, OFFLINE.md says how to go on\n", f.Arg(0), float64(info.Size())/1e6)
	return err
}
