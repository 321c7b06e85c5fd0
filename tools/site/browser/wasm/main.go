//go:build js && wasm

// Wasm is the program that pages of the workshop run, in a worker: it answers calls of
// globalThis.matladder with JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall/js"

	"matladder/internal/each"
	"matladder/machine"
	"matladder/tools/site/browser"
	"matladder/workshop"
)

func main() {
	examples := browser.Examples()
	js.Global().Set("matladder", js.ValueOf(map[string]any{
		"exercise": answer(func(args []js.Value) (any, error) {
			e := workshop.All[args[0].Int()]
			solution, err := e.Solution()
			return map[string]any{"Hints": e.Hints, "Solution": solution, "Answers": e.Answers}, err
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

// answer is a function of JavaScript that returns JSON: what f returns, or as Error its error or
// panic.
func answer(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (text any) {
		defer func() {
			if p := recover(); p != nil {
				wrong, _ := json.Marshal(map[string]string{"Error": fmt.Sprint(p)})
				text = string(wrong)
			}
		}()
		v, err := f(args)
		made, wrong := json.Marshal(v)
		if err := errors.Join(err, wrong); err != nil {
			panic(err)
		}
		return string(made)
	})
}
