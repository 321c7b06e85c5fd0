//go:build js && wasm

// Wasm is the program by which pages of the workshop check exercises, in a worker.
package main

import (
	"context"
	"syscall/js"

	"matladder/internal/each"
	"matladder/machine"
	"matladder/tools/site/browser"
	"matladder/tools/site/browser/page"
	"matladder/workshop"
)

func main() {
	examples := browser.Examples()
	page.Serve(map[string]page.Function{
		"exercise": func(args []js.Value) (any, error) {
			e := workshop.All[args[0].Int()]
			solution, err := e.Solution()
			return map[string]any{"Hints": e.Hints, "Solution": solution, "Answers": e.Answers}, err
		},
		"check": func(args []js.Value) (any, error) {
			return browser.Check(context.Background(), workshop.All[args[0].Int()], args[1].String())
		},
		"menu": func([]js.Value) (any, error) {
			return map[string]any{"Examples": examples, "Chips": each.Of(machine.All(), func(d machine.Device) string { return d.Key })}, nil
		},
		"example": func(args []js.Value) (any, error) { return examples[args[0].Int()].Source() },
		"play": func(args []js.Value) (any, error) {
			return browser.Play(context.Background(), args[0].String(), args[1].String())
		},
	})
}
