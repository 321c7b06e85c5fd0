package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/bench"
	"matladder/cmd/internal/compare"
	"matladder/cmd/internal/inspect"
	"matladder/cmd/internal/mesh"
	"matladder/cmd/internal/peers"
	"matladder/cmd/internal/plot"
	"matladder/cmd/internal/plugin"
	"matladder/cmd/internal/tune"
	"matladder/cmd/internal/workshop"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/plugins/probe"
)

func main() {
	builtin.Hook()
	probe.Child()
	cli.Main("matladder", run)
}

// A command is one that has a program of its own too.
type command struct {
	name string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

var commands = []command{
	{"bench", bench.Run}, {"plot", plot.Run}, {"compare", compare.Run}, {"inspect", inspect.Run}, {"tune", tune.Run},
	{"peers", peers.Run}, {"mesh", mesh.Run}, {"plugin", plugin.Run}, {"workshop", workshop.Run},
}

func (c command) String() string { return c.name }

// says is what the command prints on standard output.
func (c command) says(ctx context.Context, arg string) string {
	var out bytes.Buffer
	c.run(ctx, []string{arg}, &out, io.Discard)
	return out.String()
}

// about is the first line of the command's help, without its name.
func (c command) about(ctx context.Context) string {
	line, _, _ := strings.Cut(c.says(ctx, "--help"), "\n")
	_, line, _ = strings.Cut(line, " ")
	return line
}

// run is the program: a command with its arguments, or completion.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	for _, c := range commands {
		if len(args) > 0 && c.name == args[0] {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	return cli.End("matladder", own(ctx, args, stdout), "", stdout, stderr)
}

func own(ctx context.Context, args []string, stdout io.Writer) error {
	f := cli.NewFlags("matladder")
	if err := cli.Parse(f, args, manual(ctx)); err != nil {
		return err
	}
	names := strings.Join(append(each.Of(commands, command.String), "completion"), ", ")
	switch {
	case f.NArg() == 0:
		return cli.Misuse(f, "which command? %s", names)
	case f.Arg(0) != "completion":
		return cli.Usagef("unknown command %q (known: %s)", f.Arg(0), names)
	case f.NArg() != 2 || !slices.Contains(shells, f.Arg(1)):
		return cli.Usagef("completion: for which shell? %s", strings.Join(shells, ", "))
	}
	return complete(ctx, f.Arg(1), stdout)
}

func manual(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(`Matladder measures, predicts and shows matmul kernels: one program with all commands.

SYNOPSIS
  go run ./cmd/matladder COMMAND [ARGUMENTS]
  go install ./cmd/matladder && matladder COMMAND [ARGUMENTS]

EXAMPLES
  Measure for about a minute, draw one kernel, and complete commands and flags in bash:

    $ matladder bench
    $ matladder plot --analyze=5 --dtype=bfloat16
    $ source <(matladder completion bash)

COMMANDS
`)
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-12s%s\n", c, c.about(ctx))
	}
	return b.String() + "  completion  prints a script for " + strings.Join(shells, ", ") + "\n  COMMAND --help shows the flags of a command."
}

// shells are those that completion writes a script for.
var shells = []string{"bash", "zsh", "fish"}

// complete writes the script of a shell, from the flags that each command has.
func complete(ctx context.Context, shell string, w io.Writer) error {
	var cases, fish strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&fish, "complete -c matladder -f -n __fish_use_subcommand -a %s -d '%s'\n", c, c.about(ctx))
		flags := ""
		for line := range strings.Lines(c.says(ctx, cli.ListFlags)) {
			column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			name, kind, words := column[0], column[1], column[2]
			flags += " --" + name
			takes := ""
			switch {
			case words != "":
				takes = fmt.Sprintf(" -x -a '(__fish_append , %s)'", words)
				fmt.Fprintf(&cases, "  '%s --%s') words='%s' ;;\n", c, name, words)
			case kind != "":
				takes = " -r"
			}
			fmt.Fprintf(&fish, "complete -c matladder -n '__fish_seen_subcommand_from %s' -l %s%s\n", c, name, takes)
		}
		fmt.Fprintf(&cases, "  '%s -') words='%s' ;;\n", c, strings.TrimSpace(flags))
	}
	fmt.Fprintf(&fish, "complete -c matladder -f -n __fish_use_subcommand -a completion\ncomplete -c matladder -f -n '__fish_seen_subcommand_from completion' -a '%s'\n", strings.Join(shells, " "))
	text := fish.String()
	if shell != "fish" {
		names := strings.Join(each.Of(commands, command.String), " ")
		text = fmt.Sprintf(strings.ReplaceAll(bash, "\r", ""), names, strings.Join(shells, " "), cases.String())
	}
	if shell == "zsh" {
		text = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + text
	}
	_, err := io.WriteString(w, text)
	return err
}

// bash offers commands, flags, and what a flag takes, behind the last comma; else files. A checkout
// may have put returns into it.
//
//go:embed completion.bash
var bash string
