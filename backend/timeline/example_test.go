package timeline_test

import (
	"fmt"
	"os"
	"time"

	"matladder/backend/timeline"
)

// What two workers did in a launch.
func ExampleText() {
	ms := time.Millisecond
	t := &timeline.Timeline{
		Title: "a launch", Source: "made up", Tracks: []string{"worker 0", "worker 1"},
		Spans: []timeline.Span{
			{Track: 0, Name: "(0, 0)", Kind: timeline.Step, End: 3 * ms},
			{Track: 1, Name: "(0, 1)", Kind: timeline.Step, End: 2 * ms},
		},
	}
	t.Sort()
	if err := timeline.Text(os.Stdout, t); err != nil {
		fmt.Println(err)
	}
	fmt.Println(t.Count(timeline.Step), "steps,", t.Busy(timeline.Step))
	// Output:
	// a launch (made up): 3ms, 2 tracks
	//   step  2 spans  5ms  83.3 %  beside what is below
	// 2 steps, 5ms
}
