package main

import (
	"matladder/cmd/internal/mesh"
	"matladder/internal/cli"
)

func main() { cli.Main("mesh", mesh.Run) }
