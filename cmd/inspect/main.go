package main

import (
	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/inspect"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("inspect", inspect.Run)
}
