package traverse

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"

	"matladder/internal/each"
	"matladder/tile"
)

// Recording is the first steps of a launch as data, for pictures and players,
// with the totals of all of it. Its JSON is what the player reads.
type Recording struct {
	Title    string            `json:"title"`
	Programs []RecordedProgram `json:"programs"`
	Steps    []RecordedStep    `json:"steps"`
	Totals   RecordedCounters  `json:"totals"`
}

// RecordedProgram is one program of the sequence.
type RecordedProgram struct {
	Name string         `json:"name"`
	Axes []RecordedAxis `json:"axes"`
	Refs []RecordedRef  `json:"refs"` // those that visits are of
	// Scratch stays in fast memory: no visit is of it.
	Scratch []RecordedRef `json:"scratch,omitempty"`
}

// RecordedAxis is one axis of a grid.
type RecordedAxis struct {
	Name      string `json:"name"`
	Size      int    `json:"size"`
	Semantics string `json:"semantics"`
}

// RecordedRef is an input, output or table.
type RecordedRef struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Dtype string `json:"dtype"`
	Array []int  `json:"array"`
	Block []int  `json:"block"` // squeezed dimensions are 1
}

// RecordedStep is one program of the grid.
type RecordedStep struct {
	Program  int              `json:"program"`
	IDs      []int            `json:"ids"`
	Blocks   [][]int          `json:"blocks"` // by ref; null for a table
	Moves    []int            `json:"moves"`  // by ref: 0 kept, 1 first, 2 again
	Counters RecordedCounters `json:"after"`
}

// RecordedCounters are Counters.
type RecordedCounters struct {
	GridSteps    int64 `json:"grid_steps"`
	BlocksLoaded int64 `json:"blocks_loaded"`
	LoadsSkipped int64 `json:"loads_skipped"`
	BlocksStored int64 `json:"blocks_stored"`
	BytesMoved   int64 `json:"bytes_moved"`
	BytesReread  int64 `json:"bytes_reread"`
	FastBytes    int64 `json:"fast_bytes"`
}

// Record walks the whole launch and keeps its first steps, at most limit.
func Record(ctx context.Context, title string, programs []*tile.Program, tables map[string]tile.Tensor, limit int64) (*Recording, error) {
	r := &Recording{Title: title, Programs: each.Of(programs, recordProgram), Steps: []RecordedStep{}}
	totals, err := walk(ctx, programs, tables, func(s *Step) error {
		if s.GridSteps <= limit {
			r.Steps = append(r.Steps, recordStep(s))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Totals = recordCounters(totals.Counters)
	return r, nil
}

func recordProgram(p *tile.Program) RecordedProgram {
	axis := func(a *tile.Axis) RecordedAxis { return RecordedAxis{a.Name, a.Size, a.Semantics.String()} }
	rp := RecordedProgram{Name: p.Name, Axes: each.Of(p.Grid, axis)}
	for _, r := range p.Refs {
		list := &rp.Refs
		if r.Kind == tile.Scratch {
			list = &rp.Scratch
		}
		*list = append(*list, RecordedRef{r.Name, r.Kind.String(), r.Dtype.String(), r.Array, r.BlockSizes()})
	}
	return rp
}

func recordStep(s *Step) RecordedStep {
	rs := RecordedStep{Program: s.Program, IDs: append([]int{}, s.IDs...), Counters: recordCounters(s.Counters)}
	for _, v := range s.Visits {
		rs.Blocks = append(rs.Blocks, slices.Clone(v.Index))
		rs.Moves = append(rs.Moves, int(v.Move))
	}
	return rs
}

func recordCounters(c Counters) RecordedCounters {
	return RecordedCounters{c.GridSteps, c.BlocksLoaded, c.LoadsSkipped, c.BlocksStored, c.BytesMoved(), c.BytesReread, c.FastBytes}
}

// WriteJSON writes the recording on one line.
func (r *Recording) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// PlayerCSS and PlayerJS are the player, for a page that holds several: PlayerJS
// defines traversalPlayer(element, recording).
var (
	//go:embed player.css
	PlayerCSS string
	//go:embed player.js
	PlayerJS string
	//go:embed player.html
	playerPage string
)

// WriteHTML writes the recording with its player as one page that needs no network.
func (r *Recording) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(r) // escapes what could end the script
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, playerPage, html.EscapeString(r.Title), PlayerCSS, PlayerJS, data)
	return err
}
