package tile_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// again writes programs, reads them, and returns what was written and read.
func again(t testing.TB, programs []*tile.Program) (string, []*tile.Program) {
	t.Helper()
	var text strings.Builder
	if err := tile.WritePrograms(&text, programs); err != nil {
		t.Fatal(err)
	}
	got, err := tile.ReadPrograms(strings.NewReader(text.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	return text.String(), got
}

// same checks that programs are read as they were written: they print alike and are
// written alike, what is shared included.
func same(t testing.TB, programs []*tile.Program) {
	t.Helper()
	text, got := again(t, programs)
	for i, p := range programs {
		if got[i].String() != p.String() {
			t.Fatalf("written\n%s\nread\n%s", p, got[i])
		}
	}
	if twice, _ := again(t, got); twice != text {
		t.Fatalf("written\n%s\nread and written\n%s", text, twice)
	}
}

func TestPrograms_JSON(t *testing.T) {
	same(t, allForms(t))
	for _, p := range programs {
		built, err := p.build()
		if err != nil {
			t.Fatal(err)
		}
		same(t, built)
	}
	for _, k := range kernels.Ladder(problem.MatmulFamily) {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			p := problem.New(100, 70, 90, d)
			if k.Supports(p) != nil {
				continue
			}
			for _, b := range k.Candidates(p, problem.Machine{Parallel: 2}) {
				ps, err := k.Build(p, "", b)
				if err != nil {
					t.Fatal(err)
				}
				same(t, ps)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := 0
	for range 500 {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if p, err := tiletest.Random(data); err == nil {
			same(t, []*tile.Program{p})
			random++
		}
	}
	if random < 100 {
		t.Errorf("%d random programs", random)
	}
}

func TestPrograms_Golden(t *testing.T) {
	text, _ := again(t, allForms(t))
	goldentest.Assert(t, "testdata/everything.json", []byte(text))
}

// TestReadPrograms_Mistakes has a mistake each in a file that is right otherwise.
func TestReadPrograms_Mistakes(t *testing.T) {
	laid, _ := again(t, allForms(t))
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(laid)); err != nil {
		t.Fatal(err)
	}
	right := compact.String()
	for _, c := range []struct{ old, new, want string }{
		{right, "", "ends too early"},
		{right, right[:len(right)/2], "ends too early"},
		{right, right + "{}", "something stands behind"},
		{right, "[]", "is a array"},
		{`programs 2`, `programs 5`, "format"},
		{`"size":6`, `"size":"six"`, "is a string"},
		{`"size":6`, `"size":0`, "axis i: size 0"},
		{`"size":6`, `"sizes":6`, `unknown field "sizes"`},
		{`"semantics":"parallel"`, `"semantics":"sideways"`, `semantics "sideways"`},
		{`"kind":"in"`, `"kind":"inout"`, `kind of ref "inout"`},
		{`"kind":"in"`, `"kind":"scratch"`, "x"},
		{`"dtype":"float32"`, `"dtype":"float31"`, "float31"},
		{`"do":"fill"`, `"do":"flood"`, `statement "flood"`},
		{`"axis":"l#3"`, `"axis":"l"`, "one of several"},
		{`"axis":"l#3"`, `"axis":"l#4"`, "not the next"},
		{`"axis":"l#3"`, `"axis":"i"`, "not the next"},
		{`"op":"exp"`, `"op":"dexp"`, `operation "dexp"`},
		{`"op":"exp"`, `"op":"dot"`, "cannot have 1 operands"},
		{`"ref":"acc"`, `"ref":"sum"`, `no ref "sum"`},
		{`"test":"=="`, `"test":"="`, `comparison "="`},
		{`"number":"nan"`, `"number":"many"`, "is a string"},
		{`"precision":"highest"`, `"precision":"high"`, `precision "high"`},
		{`"bound":{"table":"order"`, `"bound":{"table":"x"`, "not a table"},
		{`"from":`, `"form":`, "form"},
		{`"shape":[8,`, `"shape":[-1,`, ""},
	} {
		text := strings.Replace(right, c.old, c.new, 1)
		if text == right {
			t.Errorf("there is no %s", c.old)
		}
		_, err := tile.ReadPrograms(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s for %s: %v, want %q", c.new[:min(40, len(c.new))], c.old[:min(40, len(c.old))], err, c.want)
		}
	}
}

// TestReadPrograms_Version1: reductions were of rows alone.
func TestReadPrograms_Version1(t *testing.T) {
	const text = `{"format":"matladder tile programs 1","programs":[{"name":"top","grid":[],"refs":[
		{"name":"x","kind":"in","dtype":"float32","array":[4,8],"block":[4,8],"index":[0,0]},
		{"name":"o","kind":"out","dtype":"float32","array":[4,1],"block":[4,1],"index":[0,0]}],
		"values":[{"op":"load","dtype":"float32","shape":[4,8],"ref":"x"},{"op":"row_max","args":[0],"dtype":"float32","shape":[4,1]}],
		"body":[{"do":"store","ref":"o","value":1}]}]}`
	ps, err := tile.ReadPrograms(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if e := ps[0].Body[0].Value; e.Op != tile.OpReduceMax || e.Dim != 1 {
		t.Errorf("%s along %d", e.Op, e.Dim)
	}
}

// FuzzReadPrograms: whatever is read can be written and read again; what cannot be read
// is an error.
func FuzzReadPrograms(f *testing.F) {
	text, _ := again(f, allForms(f))
	f.Add([]byte(text))
	f.Add([]byte(`{"format":"matladder tile programs 1","programs":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ps, err := tile.ReadPrograms(bytes.NewReader(data))
		if err == nil {
			same(t, ps)
		}
	})
}
