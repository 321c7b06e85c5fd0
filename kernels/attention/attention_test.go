package attention_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// shapes are blocks that overhang, that are longer than wide and wider than long.
var shapes = []tile.Blocks{{M: 8, K: 16}, {M: 16, K: 8}, {M: 64, K: 64}}

// TestMeaning holds every rung to float64, on every case.
func TestMeaning(t *testing.T) {
	run := thoroughtest.Choose(1, 5, 5)
	for _, c := range attentiontest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			data := attentiontest.Of(c.Attention, 1)
			for _, k := range attentiontest.Rungs() {
				if c.PageSize > 0 && k.Supports(c.Attention) != nil {
					continue // v5_split alone looks them up
				}
				for _, b := range shapes {
					b = problem.Clip(c.Attention, b)
					if run() || c.PageSize > 0 { // else some cases of one rung would have none
						t.Run(fmt.Sprintf("%s/%d×%d", k.Name(), b.M, b.K), func(t *testing.T) { checkMeaning(t, k, data, c.Attention, b) })
					}
				}
			}
		})
	}
}

// TestPieces holds rungs that pass over keys to float64 where a block goes through in pieces.
func TestPieces(t *testing.T) {
	p, b := attentiontest.Pieces()
	data := attentiontest.Of(p, 1)
	for _, k := range attentiontest.Rungs() {
		if n := k.Number(); n == 3 || n == 4 || n == 6 {
			t.Run(k.Name(), func(t *testing.T) { checkMeaning(t, k, data, p, b) })
		}
	}
}

func checkMeaning(t *testing.T, k kernels.Kernel, data *attentiontest.Data, p problem.Attention, b tile.Blocks) {
	programs, err := k.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	in, err := data.Inputs(b, programs)
	if err != nil {
		t.Fatal(err)
	}
	out, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := data.Check(programs, out); err != nil {
		t.Error(err)
	}
}

// TestShort holds each rung to what one reads on a screen or little more.
func TestShort(t *testing.T) {
	const most = 80
	for _, k := range attentiontest.Rungs() {
		text, err := os.ReadFile(filepath.Join(k.Name(), "kernel.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most {
			t.Errorf("%s has %d lines, want at most %d", k.Name(), n, most)
		}
	}
}
