// Jaxcheck writes inputs and outputs of attention's rungs, run by the interpreter, for
// compare.py, which holds them to JAX's own attention and to its flash kernel:
//
//	python3 -m venv /tmp/jax && /tmp/jax/bin/pip install jax
//	go run ./tools/jaxcheck /tmp/attention && /tmp/jax/bin/python tools/jaxcheck/compare.py /tmp/attention
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/jaxcheck FOLDER")
		os.Exit(2)
	}
	if err := write(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "jaxcheck:", err)
		os.Exit(1)
	}
}

// cases are what JAX has, too.
func cases() []attentiontest.Case {
	var all []attentiontest.Case
	add := func(name string, change func(p *problem.Attention)) {
		p := problem.Self(256, 64, tile.Float32)
		p.Heads, p.KVHeads = 4, 4
		change(&p)
		all = append(all, attentiontest.Case{Name: name, Attention: p})
	}
	add("full", func(*problem.Attention) {})
	add("causal", func(p *problem.Attention) { p.Causal = true })
	add("causal at the end", func(p *problem.Attention) { p.Causal, p.AtEnd, p.Rows = true, true, 128 })
	add("shared heads", func(p *problem.Attention) { p.Causal, p.KVHeads = true, 1 })
	add("window", func(p *problem.Attention) { p.Window, p.Left, p.Right = true, 40, 10 })
	add("segments", func(p *problem.Attention) { p.Segments = true })
	add("bias", func(p *problem.Attention) { p.Bias = true })
	add("128 columns", func(p *problem.Attention) { p.Causal, p.Dim, p.ValueDim = true, 128, 128 })
	return all
}

// an entry is one run; files have its arrays, by name, in the order of the machine.
type entry struct {
	Case, Kernel string
	Problem      problem.Attention
	Arrays       map[string][]int // shapes
	Folder       string
}

func write(ctx context.Context, folder string) error {
	var entries []entry
	for i, c := range cases() {
		for _, k := range attentiontest.Rungs() {
			b := problem.Clip(c.Attention, tile.Blocks{M: 64, K: 128})
			programs, err := k.Build(c.Attention, "", b)
			if err != nil {
				return err
			}
			in, err := attentiontest.Inputs(c.Attention, b, programs, 1)
			if err != nil {
				return err
			}
			out, err := interp.Run(ctx, programs, in)
			if err != nil {
				return err
			}
			bound, err := tile.Bind(programs)
			if err != nil {
				return err
			}
			e := entry{c.Name, k.Name(), c.Attention, map[string][]int{}, fmt.Sprintf("%d_%s", i, k.Name())}
			if err := os.MkdirAll(filepath.Join(folder, e.Folder), 0o755); err != nil {
				return err
			}
			for n, r := range append(bound.In, bound.Out...) {
				e.Arrays[r.Name] = r.Array
				t := append(in, out...)[n]
				if err := os.WriteFile(filepath.Join(folder, e.Folder, r.Name), t.Data, 0o644); err != nil {
					return err
				}
			}
			entries = append(entries, e)
		}
	}
	text, err := json.MarshalIndent(entries, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "entries.json"), text, 0o644)
}
