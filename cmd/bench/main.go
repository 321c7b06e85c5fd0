package main

import (
	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/bench"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("bench", bench.Run)
}
