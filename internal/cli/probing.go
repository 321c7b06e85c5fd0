package cli

import (
	"fmt"
	"io"
)

// Probing returns a function, for a CPU backend's Options, that says on w that this machine is
// being measured. file is where the figures are kept, "" for nowhere; where it cannot be
// written they are not.
func Probing(w io.Writer) func(file string, unwritable error) {
	return func(file string, unwritable error) {
		switch {
		case file == "":
			fmt.Fprintln(w, "measuring this machine, one or two seconds; there is no cache folder to keep the figures in")
		case unwritable != nil:
			fmt.Fprintf(w, "measuring this machine, one or two seconds; the figures cannot be kept: %v\n", unwritable)
		default:
			fmt.Fprintf(w, "measuring this machine once, one or two seconds; the figures are kept in %s\n", file)
		}
	}
}
