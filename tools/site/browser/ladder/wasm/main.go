//go:build js && wasm

// Wasm is the program by which pages of the workshop measure, in a worker of its own: it is
// smaller than the one that checks exercises.
package main

import (
	"context"
	"syscall/js"

	"matladder/tools/site/browser/ladder"
	"matladder/tools/site/browser/page"
)

func main() {
	ctx := context.Background()
	var l *ladder.Ladder
	page.Serve(map[string]page.Function{
		"ladder": func(args []js.Value) (any, error) {
			if l != nil {
				if err := l.Close(); err != nil {
					return nil, err
				}
			}
			var err error
			l, err = ladder.New(args[0].Int(), args[1].Bool())
			return l, err
		},
		"prepare": func(args []js.Value) (any, error) { return l.Prepare(ctx, args[0].Int()) },
		"sample":  func(args []js.Value) (any, error) { return l.Sample(ctx, args[0].Int()) },
	})
}
