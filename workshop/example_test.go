package workshop_test

import (
	"context"
	"fmt"

	"matladder/workshop"
)

// What a learner is told who has filled in nothing, and one who has it right.
func ExampleFind() {
	e, err := workshop.Find("2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Title)
	for _, check := range []func(context.Context) (*workshop.Report, error){e.CheckBlank, e.CheckSolution} {
		r, err := check(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.OK(), r.Lines[2].Text)
	}
	// Output:
	// a loop order that reads b once
	// false bytes of b moved again: 196.6 kB, target at most 0 B. A panel of b is brought in again whenever j changes and comes back.
	// true bytes of b moved again: 0 B, target at most 0 B
}
