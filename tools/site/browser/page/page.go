//go:build js && wasm

// Package page lets a page call functions of a Go program, which answer with JSON.
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall/js"
)

// A Function is called with what a page hands it.
type Function = func(args []js.Value) (any, error)

// Serve has globalThis.matladder call functions, for as long as the page is there.
func Serve(functions map[string]Function) {
	all := map[string]any{}
	for name, f := range functions {
		all[name] = answer(f)
	}
	js.Global().Set("matladder", js.ValueOf(all))
	select {} // calls come in
}

// answer is a function of JavaScript that returns JSON: what f returns, or as Error its error or
// panic.
func answer(f Function) js.Func {
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
