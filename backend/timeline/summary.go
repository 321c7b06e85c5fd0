package timeline

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Text writes for each timeline how much of its tracks' time each kind took.
func Text(w io.Writer, list ...*Timeline) error {
	for i, t := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		all := t.End() * time.Duration(max(1, len(t.Tracks)))
		fmt.Fprintf(w, "%s (%s): %v, %d tracks\n", t.Title, t.Source, t.End(), len(t.Tracks))
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, k := range Kinds {
			if n := t.Count(k); n > 0 {
				busy, note := t.Busy(k), ""
				if k == Step {
					note = "beside what is below"
				}
				fmt.Fprintf(table, "  %s\t%d spans\t%v\t%.1f %%\t%s\n", k, n, busy, 100*float64(busy)/float64(all), note)
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
