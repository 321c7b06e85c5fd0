package main

import (
	"matladder/cmd/internal/plot"
	"matladder/internal/cli"
)

func main() { cli.Main("plot", plot.Run) }
