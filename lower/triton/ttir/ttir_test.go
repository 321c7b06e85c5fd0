package ttir

import (
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
)

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".ttir")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func count(t *testing.T, name string, l Launch) (*Counts, error) {
	t.Helper()
	k, err := Parse(read(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return k.Count(t.Context(), l)
}

func TestCount_Product(t *testing.T) {
	const m, n, k, bm, bn, bk = 200, 300, 100, 64, 128, 32 // of testdata/export.py
	args := map[string]string{"M": "200", "N": "300", "K": "100", "row_a": "104", "arg7": "300", "row_o": "320"}
	got, err := count(t, "product", Launch{Grid: [3]int{4, 3, 1}, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	const programs, trips = 4 * 3, 4
	if got.Programs != programs || got.Blocks != programs || got.Steps != programs*trips || got.Longest != trips || got.Followed != programs {
		t.Errorf("%+v", got)
	}
	if len(got.Dots) != 1 || got.Dots[0].FLOPs() != 2*4*bm*3*bn*trips*bk {
		t.Errorf("%+v", got.Dots)
	}
	// Rows past M and columns past N are those of the start again; k past K is masked.
	if want := int64(2 * k * programs * (bm + bn)); got.StepBytes != want || got.OnceBytes != 0 || got.RevisedBytes != 0 {
		t.Errorf("loads %d and %d, revises %d, want %d", got.StepBytes, got.OnceBytes, got.RevisedBytes, want)
	}
	if got.OutBytes != 2*m*n || got.MaybeBytes != 0 || len(got.Notes) > 0 {
		t.Errorf("stores %d, want %d; %v", got.OutBytes, 2*m*n, got.Notes)
	}
	whole := map[string]int64{"a": 104*(m-1) + k, "b": n * k, "o": 320*(m-1) + n}
	for _, a := range got.Arrays {
		if a.Elements != whole[a.Name] || a.Read == (a.Name == "o") || a.Write != (a.Name == "o") || a.Bytes > 2*whole[a.Name] {
			t.Errorf("%+v, of %d elements", a, whole[a.Name])
		}
	}
	if first, last := got.Reads[0], got.Reads[programs-1]; first[0] != (Read{0, 0, 2 * bm * k}) || first[1] != (Read{1, 0, 2 * bn * k}) || len(last) != 2 {
		t.Errorf("%+v, %+v", first, last)
	}
}

func TestCount_Rows(t *testing.T) {
	got, err := count(t, "rows", Launch{Grid: [3]int{4, 1, 1}, Args: map[string]string{"n_rows": "10", "n": "700", "row": "768"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Blocks != 4 || got.Steps != 10 || got.Longest != 3 || got.StepBytes != 4*7000 || got.OutBytes != 4*7000 || got.Dots != nil {
		t.Errorf("%+v", got)
	}
}

func TestCount_Persistent(t *testing.T) {
	const m, n, k, bm, bn, bk = 500, 512, 192, 128, 128, 64
	args := map[string]string{"M": "500", "N": "512", "K": "192"}
	got, err := count(t, "stays", Launch{Grid: [3]int{20, 1, 1}, Args: args})
	if err != nil || got.Programs != 20 || got.Blocks != 16 || got.Longest != 3 {
		t.Fatalf("%v, %+v", err, got)
	}
	if got, err = count(t, "stays", Launch{Grid: [3]int{6, 1, 1}, Args: args}); err != nil {
		t.Fatal(err)
	}
	if got.Programs != 6 || got.Blocks != 16 || got.Steps != 16*3 || got.Longest != 3 || got.Dots[0].Times != 16*3 {
		t.Errorf("%+v", got)
	}
	// The last rows of a end inside of a block: what is past them is not read.
	if got.StepBytes != 2*k*(4*m+4*n) || got.OutBytes != 2*m*n {
		t.Errorf("loads %d, want %d; stores %d, want %d", got.StepBytes, 2*k*(4*m+4*n), got.OutBytes, 2*m*n)
	}
	for _, a := range got.Arrays {
		if want := map[string]int64{"a": 2 * m * k, "b": 2 * k * n, "o": 2 * m * n}[a.Name]; a.Bytes != want {
			t.Errorf("%+v: %d bytes", a, want)
		}
	}
	// Blocks stand in the order in which programs come to them.
	if got.Reads[0][0].At != 0 || got.Reads[6][0].At != bm*k || got.Reads[6][1].At != 2*bn {
		t.Errorf("%v", got.Reads)
	}
}

// TestCount_Sampled: where programs are too many, some are followed for all.
func TestCount_Sampled(t *testing.T) {
	got, err := count(t, "product", Launch{Grid: [3]int{1 << 20, 1, 1}, Args: map[string]string{"M": "67108864", "N": "128", "K": "64", "row_a": "64", "row_b": "128", "row_o": "128"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Followed >= got.Programs || got.Blocks != 1<<20 || got.Steps != 2<<20 || got.StepBytes != 2*64*(64+128)<<20 || got.Reads != nil {
		t.Errorf("%+v", got)
	}
	if a := got.Arrays[0]; a.Elements != 64<<26 || a.Bytes != 2*64<<26 {
		t.Errorf("%+v", a)
	}
}

// TestCount_Data: what data decides is noted, or refused.
func TestCount_Data(t *testing.T) {
	args := map[string]string{"n": "256"}
	got, err := count(t, "picked", Launch{Grid: [3]int{8, 1, 1}, Args: args})
	if err != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "where table is moved depends on what line 6 gives") {
		t.Fatalf("%v, %+v", err, got)
	}
	if got.OnceBytes != 8*(4+1024) || got.OutBytes != 8*1024 || got.Arrays[0].Bytes != 8*1024 {
		t.Errorf("%+v", got)
	}
	_, err = count(t, "trips", Launch{Grid: [3]int{8, 1, 1}, Args: args})
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "how often the loop runs depends on what line ") {
		t.Error(err)
	}
}

// kernel is a text around a body.
func kernel(body string) string {
	return "module {\n  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n%i = tt.get_program_id x : i32\n" + body + "tt.return\n  }\n}\n"
}

// TestCount_Arithmetic: what an address is computed to be, by the definition of each
// operation.
func TestCount_Arithmetic(t *testing.T) {
	const where = "%%q = tt.addptr %%p, %%x : !tt.ptr<f32>, i32\n%%v = tt.load %%q : !tt.ptr<f32>\ntt.store %%p, %%v : !tt.ptr<f32>\n"
	for body, want := range map[string]int64{ // %i is 2 of 3, %n is 7
		"%x = arith.muli %i, %n : i32\n":                                          14,
		"%x = arith.subi %n, %i : i32\n":                                          5,
		"%x = arith.divsi %n, %i : i32\n":                                         3,
		"%x = arith.ceildivsi %n, %i : i32\n":                                     4,
		"%x = arith.remsi %n, %i : i32\n":                                         1,
		"%x = arith.minsi %n, %i : i32\n":                                         2,
		"%x = arith.shli %n, %i : i32\n":                                          28,
		"%x = arith.xori %n, %i : i32\n":                                          5,
		"%x = tt.get_num_programs {axis = 0 : i32} : i32\n":                       3,
		"%x = tt.get_num_programs x : i32\n":                                      3,
		"%c = arith.cmpi sgt, %n, %i : i32\n%x = arith.select %c, %i, %n : i32\n": 2,
		"%c = arith.cmpi eq, %n, %i : i32\n%x = arith.extui %c : i1 to i32\n":     0,
		"%c = arith.constant true\n%x = scf.if %c -> (i32) {\nscf.yield %n : i32\n} else {\nscf.yield %i : i32\n}\n":                    7,
		"%x = scf.for %j = %i to %n step %i iter_args(%s = %n) -> (i32) : i32 {\n%a = arith.addi %s, %j : i32\nscf.yield %a : i32\n}\n": 7 + 2 + 4 + 6,
	} {
		k, err := Parse(kernel(body + strings.ReplaceAll(where, "%%", "%")))
		if err != nil {
			t.Errorf("%s%v", body, err)
			continue
		}
		got, err := k.Count(t.Context(), Launch{Grid: [3]int{3, 1, 1}, Args: map[string]string{"n": "7"}})
		if err != nil {
			if strings.Contains(body, "scf.for") { // the first program's step is 0
				continue
			}
			t.Errorf("%s%v", body, err)
			continue
		}
		if at := got.Reads[2][0].At; at != want {
			t.Errorf("%sat %d, want %d", body, at, want)
		}
	}
}

// TestCount_Tensors: elements that are read, by what shapes and masks say.
func TestCount_Tensors(t *testing.T) {
	const head = "%r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>\n%s = tt.splat %n : i32 -> tensor<16xi32>\n"
	const tail = "%pp = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n%q = tt.addptr %pp, %x : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n" +
		"%v = tt.load %q, %m : tensor<16x!tt.ptr<f32>>\ntt.store %p, %v : !tt.ptr<f32>\n"
	for body, want := range map[string][3]int64{ // elements, first, last+1
		"%x = arith.addi %r, %s : tensor<16xi32>\n%m = arith.cmpi slt, %r, %s : tensor<16xi32>\n":                                                                                                                                                            {7, 7, 14},
		"%x = arith.muli %r, %s : tensor<16xi32>\n%m = arith.constant dense<true> : tensor<16xi1>\n":                                                                                                                                                         {16, 0, 106},
		"%x = arith.remsi %r, %s : tensor<16xi32>\n%m = arith.cmpi sge, %r, %s : tensor<16xi32>\n":                                                                                                                                                           {9, 0, 7},
		"%x = arith.subi %s, %r : tensor<16xi32>\n%c = arith.cmpi sle, %r, %s : tensor<16xi32>\n%d = arith.cmpi ne, %r, %s : tensor<16xi32>\n%m = arith.andi %c, %d : tensor<16xi1>\n":                                                                       {7, 1, 8},
		"%z = arith.constant dense<0> : tensor<16xi32>\n%c = arith.cmpi slt, %r, %s : tensor<16xi32>\n%x = arith.select %c, %r, %z : tensor<16xi1>, tensor<16xi32>\n%m = arith.constant dense<true> : tensor<16xi1>\n":                                       {16, 0, 7},
		"%e = tt.reshape %r : tensor<16xi32> -> tensor<4x4xi32>\n%f = tt.trans %e {order = array<i32: 1, 0>} : tensor<4x4xi32> -> tensor<4x4xi32>\n%x = tt.reshape %r : tensor<16xi32> -> tensor<16xi32>\n%m = arith.constant dense<true> : tensor<16xi1>\n": {16, 0, 16},
	} {
		k, err := Parse(kernel(head + body + tail))
		if err != nil {
			t.Errorf("%s%v", body, err)
			continue
		}
		got, err := k.Count(t.Context(), Launch{Grid: [3]int{1, 1, 1}, Args: map[string]string{"n": "7"}})
		if err != nil {
			t.Errorf("%s%v", body, err)
			continue
		}
		if a := got.Arrays[0]; got.OnceBytes+got.StepBytes != 4*want[0] || a.Elements != want[2] || got.Reads[0][0].At != want[1] {
			t.Errorf("%s%d bytes from %d to %d, want %v", body, got.OnceBytes+got.StepBytes, got.Reads[0][0].At, a.Elements, want)
		}
	}
}

// TestHostile: each is one line that says what is wrong.
func TestHostile(t *testing.T) {
	product := read(t, "product")
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"module {\n}":                     "no Triton kernel",
		"\xff tt.func":                    "no Triton kernel",
		"module {\n tt.func public @":     "line 2: the text ends in the middle",
		product[:len(product)/2]:          "is cut short",
		product[:len(product)-20]:         "is cut short",
		product + "tt.func public @x":     "",
		kernel("%x = foo.bar %i : i32\n"): "line 4: foo.bar is not read",
		kernel("tt.call @other(%i) : (i32) -> ()\n"):                             "line 4: tt.call is not read",
		kernel("%x = arith.addi %i, %nobody : i32\n"):                            "line 4: %nobody is used before it is defined",
		kernel("cf.cond_br %i, ^bb1, ^bb2\n^bb1:\n"):                             "cf.cond_br is not read",
		kernel("%x = tt.splat %i : i32 -> tensor<99999999999xi32>\n"):            `type "tensor<99999999999xi32>" is not understood`,
		kernel("%x = tt.splat %i\n"):                                             "tt.splat: 1 operands and 0 types, want",
		kernel("scf.while : () -> () {\n"):                                       "how often this loop runs",
		kernel(strings.Repeat("scf.if %i {\n", 200)):                             "more than 100 deep",
		"module {\n  tt.func public @k(%d: !tt.tensordesc<8x8xf16>) {\n\n}\n}\n": "a descriptor that the host makes",
	} {
		_, err := Parse(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	good := Launch{Grid: [3]int{1, 1, 1}, Args: map[string]string{"n": "5"}}
	for body, want := range map[string]string{
		"scf.for %j = %i to %n step %i : i32 {\n%v = tt.load %p : !tt.ptr<f32>\n}\n":                                                                    "line 4: the step of the loop is 0",
		"%h = arith.constant 2000000000 : i32\n%o = arith.constant 1 : i32\nscf.for %j = %i to %h step %o : i32 {\n%v = tt.load %p : !tt.ptr<f32>\n}\n": "which is too long to follow",
		"%f = tt.load %p : !tt.ptr<f32>\n%c = arith.fptosi %f : f32 to i1\nscf.if %c {\ntt.store %p, %f : !tt.ptr<f32>\n}\n":                            "line 6: whether this is done depends on what line 4 gives",
		"%q = tt.int_to_ptr %n : i32 -> !tt.ptr<f32>\n%v = tt.load %q : !tt.ptr<f32>\ntt.store %p, %v : !tt.ptr<f32>\n":                                 "line 5: which array this is depends on what line 4 gives",
	} {
		k, err := Parse(kernel(body))
		if err == nil {
			_, err = k.Count(t.Context(), good)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %q", body, err, want)
		}
	}
	k, err := Parse(kernel(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		grid [3]int
		args map[string]string
		want string
	}{
		{good.Grid, nil, "k needs the value of n"},
		{good.Grid, map[string]string{"n": "5", "m": "1"}, "k has no argument m (it has p, n)"},
		{good.Grid, map[string]string{"n": "x"}, "argument n = x: want an integer"},
		{good.Grid, map[string]string{"p": "1"}, "argument p is a pointer"},
		{[3]int{0, 1, 1}, good.Args, "grid [0 1 1]"},
		{[3]int{1 << 31, 1, 1}, good.Args, "grid [2147483648 1 1]"},
	} {
		if _, err := k.Count(t.Context(), Launch{Grid: test.grid, Args: maps.Clone(test.args)}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	n, err := k.Count(t.Context(), good)
	if err == nil {
		_, err = k.Module(good, n)
	}
	if err == nil || !strings.Contains(err.Error(), "stores nothing") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"product", "rows", "stays", "picked"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		l := Launch{Grid: [3]int{2, 1, 1}, Args: map[string]string{}}
		for _, p := range k.Params {
			if p.Elem == "" {
				l.Args[p.Name] = "1"
			}
		}
		if n, err := k.Count(t.Context(), l); err == nil {
			k.Module(l, n)
		}
	})
}
