package aot

import (
	"context"
	"errors"

	"matladder/internal/child"
	"matladder/internal/pjrtapi"
)

const supported = true

// Child compiles what a parent asks for until the parent is gone, and ends the process, if this
// is a process that a Compiler started; it returns at once otherwise.
func Child() {
	var plugin *api
	child.Serve(role, func(_ context.Context, r request, _ [][]byte) (answer, [][]byte) {
		var a answer
		var err error
		if plugin == nil {
			plugin, err = load(r.Library)
		}
		if err == nil {
			a, err = plugin.compile(r)
		}
		if err != nil {
			a = answer{Failed: true, Message: err.Error()}
			var failed *pjrtapi.Error
			if errors.As(err, &failed) {
				a.Code = failed.Code
			}
		}
		return a, nil
	})
}
