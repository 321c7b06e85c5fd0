package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/known"
)

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
		names := strings.Join(known.Names(commands, command.String), " ")
		text = fmt.Sprintf(bash, names, strings.Join(shells, " "), cases.String())
	}
	if shell == "zsh" {
		text = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + text
	}
	_, err := io.WriteString(w, text)
	return err
}

// bash offers commands, flags, and what a flag takes, behind the last comma; else files.
const bash = `_matladder() {
  local cur="${COMP_WORDS[COMP_CWORD]}" flag="${COMP_WORDS[COMP_CWORD-1]}" head="" words=""
  case "$cur" in
  =) cur="" ;;
  --*=*) flag="${cur%%%%=*}" head="$flag=" cur="${cur#*=}" ;;
  -*) flag=- ;;
  *) [ "$flag" = = ] && flag="${COMP_WORDS[COMP_CWORD-2]}" ;;
  esac
  case "${COMP_WORDS[1]} $flag" in
  "$cur "*) words='%s completion' ;;
  'completion completion') words='%s' ;;
%s  esac
  case "$cur" in *,*) head="$head${cur%%,*}," cur="${cur##*,}" ;; esac
  [ -z "$words" ] || COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
}
complete -o default -F _matladder matladder
`
