package results_test

import (
	"fmt"
	"strings"

	"matladder/results"
)

// A bad row is told with its place, and the others are read.
func ExampleRead() {
	const text = `schema,kernel,mode,status,m,k,n,dtype_a,launches,seconds
1,v4_optblock,measured,ok,512,512,512,float32,10,0.006
1,v4_optblock,measured,ok,512,512,512,float32,10,fast
`
	f, err := results.Read(strings.NewReader(text), "out/mine.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range f.Rows {
		fmt.Println(r.Kernel, r.Sizes(), r.Dtypes(), r.Seconds, "s for", r.Launches, "launches")
	}
	for _, w := range f.Warnings() {
		fmt.Println(w)
	}
	// Output:
	// v4_optblock 512×512×512 float32 0.006 s for 10 launches
	// out/mine.csv:3: column "seconds": "fast" is not a number
}
