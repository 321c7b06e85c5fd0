package main

import (
	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/peers"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("peers", peers.Run)
}
