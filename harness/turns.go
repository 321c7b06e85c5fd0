package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"matladder/results"
)

// mostDeaths is how often the process may end in a point's turn before that is passed
// over: a machine that kills what takes too much memory does so each time.
const mostDeaths = 2

// turns notes beside the results file whose turn it is, so that a process that was
// killed leaves word of what it was at. The note is removed at the end of an
// execution; one that is found was left by a process that had none.
type turns struct {
	f   *os.File // nil if it cannot be written: then nothing is noted
	was turn     // that was found
}

// turn is a point's part of a round.
type turn struct {
	Point  string // hash of its identity
	Round  int
	Deaths int // in this turn, before this one
}

// turnsFile is where the note of a results file lies.
func turnsFile(out string) string { return out + ".turn" }

// openTurns reads the note that was left of an execution that is resumed, and begins a new one.
func openTurns(out string, resume bool) *turns {
	t := &turns{}
	f, err := os.OpenFile(turnsFile(out), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return t
	}
	t.f = f
	text, err := io.ReadAll(io.LimitReader(f, 1<<12))
	if !resume || err != nil || json.Unmarshal(text, &t.was) != nil {
		t.was = turn{}
	}
	return t
}

// begin notes a turn and returns in how many like it the process has ended.
func (t *turns) begin(row *results.Record, round int) (deaths int) {
	sum := sha256.Sum256(fmt.Append(nil, identity(row)))
	now := turn{Point: hex.EncodeToString(sum[:8]), Round: round}
	if t.was.Point == now.Point && t.was.Round == round {
		now.Deaths = t.was.Deaths + 1
	}
	if t.f == nil {
		return 0
	}
	text, err := json.Marshal(now)
	if err == nil {
		_, err = t.f.WriteAt(fmt.Appendf(text, "%*s\n", max(0, 100-len(text)), ""), 0) // one length, so that no rest of another stays
	}
	if err != nil {
		return 0
	}
	return now.Deaths
}

// end removes the note.
func (t *turns) end() {
	if t.f != nil {
		t.f.Close()
		os.Remove(t.f.Name())
	}
}
