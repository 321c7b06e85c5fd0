package main

import (
	"matladder/cmd/internal/plugin"
	"matladder/internal/cli"
	"matladder/plugins/probe"
)

func main() {
	probe.Child()
	cli.Main("plugin", plugin.Run)
}
