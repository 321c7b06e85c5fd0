package main

import (
	"matladder/cmd/internal/workshop"
	"matladder/internal/cli"
)

func main() { cli.Main("workshop", workshop.Run) }
