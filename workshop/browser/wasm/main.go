//go:build js && wasm

// Wasm is the program that pages of the workshop run, in a worker: it answers calls of
// globalThis.matladder with JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"matladder/internal/each"
	"matladder/machine"
	"matladder/workshop"
	"matladder/workshop/browser"
)

func main() {
	examples := browser.Examples()
	js.Global().Set("matladder", js.ValueOf(map[string]any{
		"exercise": answer(func(args []js.Value) (any, error) {
			e := workshop.All[args[0].Int()]
			solution, err := e.Solution()
			return map[string]any{"Hints": e.Hints, "Solution": solution}, err
		}),
		"check": answer(func(args []js.Value) (any, error) {
			return browser.Check(context.Background(), workshop.All[args[0].Int()], args[1].String())
		}),
		"menu": answer(func([]js.Value) (any, error) {
			return map[string]any{"Examples": examples, "Chips": each.Of(machine.All(), func(d machine.Device) string { return d.Key })}, nil
		}),
		"example": answer(func(args []js.Value) (any, error) { return examples[args[0].Int()].Source() }),
		"play": answer(func(args []js.Value) (any, error) {
			return browser.Play(context.Background(), args[0].String(), args[1].String())
		}),
	}))
	select {} // calls come in
}

// answer is a function of JavaScript that returns JSON: what f returns, or its error as Error.
func answer(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (text any) {
		wrong := func(why any) any {
			text, _ := json.Marshal(map[string]string{"Error": fmt.Sprint(why)})
			return string(text)
		}
		defer func() {
			if p := recover(); p != nil {
				text = wrong(p)
			}
		}()
		v, err := f(args)
		if err != nil {
			return wrong(err)
		}
		made, err := json.Marshal(v)
		if err != nil {
			return wrong(err)
		}
		return string(made)
	})
}
