package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/internal/goldentest"
)

// TestHero: the animation in docs is that of the rows in this folder, is XML, and is small.
func TestHero(t *testing.T) {
	var svg bytes.Buffer
	if err := write(t.Context(), &svg, "cpu.csv", "v5e.csv"); err != nil {
		t.Fatal(err)
	}
	goldentest.Assert(t, filepath.Join("..", "..", "docs", "hero.svg"), svg.Bytes())
	if most := 1_500_000; svg.Len() > most {
		t.Errorf("%d bytes, at most %d", svg.Len(), most)
	}
	for d := xml.NewDecoder(&svg); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestScenes: the frames of a scene end where the walk ends, with every cell moved.
func TestScenes(t *testing.T) {
	l, err := read("cpu.csv", "measured")
	if err != nil {
		t.Fatal(err)
	}
	list, err := scenes(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		last := s.counters[len(s.counters)-1]
		if last.step != last.steps || len(s.counters) > maxFrames {
			t.Errorf("v%d ends at step %d of %d after %d frames", i+1, last.step, last.steps, len(s.counters))
		}
		for _, a := range s.arrays {
			for _, states := range a.states {
				if len(states) != len(s.counters) || states[len(states)-1] == untouched {
					t.Errorf("v%d: a cell has states %v of %d frames", i+1, states, len(s.counters))
				}
			}
			current := func(frame int) int {
				return len(slices.DeleteFunc(slices.Clone(a.states), func(cell []state) bool { return cell[frame] < kept }))
			}
			for frame := range s.counters {
				if n := current(frame); n != 1 {
					t.Errorf("v%d: %d current blocks in frame %d", i+1, n, frame)
				}
			}
		}
	}
}

// TestRun_Mistakes: files that are no such ladder are told.
func TestRun_Mistakes(t *testing.T) {
	for _, args := range [][]string{{"--cpu", "v5e.csv"}, {"--cpu", "cpu.csv", "--tpu", "cpu.csv"}, {"--cpu", "none.csv"}} {
		var stdout, stderr bytes.Buffer
		out := filepath.Join(t.TempDir(), "hero.svg")
		code := run(t.Context(), append(args, "--out", out), &stdout, &stderr)
		if _, err := os.Stat(out); code == cli.OK || err == nil || !strings.Contains(stderr.String(), ".csv") {
			t.Errorf("%v: exit %d, %q", args, code, stderr.String())
		}
	}
}
