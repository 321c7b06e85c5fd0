package aot

import (
	"encoding/gob"
	"os"
)

// Child compiles what a parent asks for until the parent is gone, and ends the
// process, if this is a process that a Compiler started; it returns at once
// otherwise.
func Child() {
	library := os.Getenv(variable)
	if library == "" {
		return
	}
	os.Unsetenv(variable)
	requests, answers := gob.NewDecoder(os.NewFile(3, "requests")), gob.NewEncoder(os.NewFile(4, "answers"))
	var plugin *api
	for {
		var r request
		if requests.Decode(&r) != nil {
			os.Exit(0) // without taking libtpu down, which may hang
		}
		var a answer
		var err error
		if plugin == nil {
			plugin, err = load(library)
		}
		if err == nil {
			a, err = plugin.compile(r)
		}
		if err != nil {
			a = answer{Failed: true, Message: err.Error()}
			if failed, ok := err.(*pjrtError); ok {
				a.Code = failed.code
			}
		}
		if answers.Encode(a) != nil {
			os.Exit(1)
		}
	}
}
