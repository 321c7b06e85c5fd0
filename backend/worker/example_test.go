//go:build unix

package worker_test

import (
	"context"
	"fmt"

	"matladder/backend/worker"
)

// A backend in a process of its own. The program, here the tests' TestMain, calls Hook with
// the openers first thing:
//
//	worker.Hook(map[string]worker.Opener{"cpu": openCPU})
func ExampleOpen() {
	b, err := worker.Open(context.Background(), worker.Options{Opener: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Name())
	fmt.Println(b.Close())
	// Output:
	// cpu
	// <nil>
}
