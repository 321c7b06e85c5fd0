package main

import (
	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/tune"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("tune", tune.Run)
}
