package classroom

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// readPower asks pmset, which says "Now drawing from 'Battery Power'".
func readPower() supply {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "pmset", "-g", "batt").Output()
	if err != nil {
		return supply{}
	}
	s := supply{known: strings.Contains(string(out), "Now drawing from"), battery: strings.Contains(string(out), "'Battery Power'")}
	if out, err := exec.CommandContext(ctx, "pmset", "-g").Output(); err == nil {
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "lowpowermode" && f[1] == "1" {
				s.saving = "low power mode is on: turn it off in the settings of the battery"
			}
		}
	}
	return s
}
