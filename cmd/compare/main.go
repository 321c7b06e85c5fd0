package main

import (
	"matladder/cmd/internal/compare"
	"matladder/internal/cli"
)

func main() { cli.Main("compare", compare.Run) }
