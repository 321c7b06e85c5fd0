package schedule

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The dumps are of libtpu 0.0.51 unless their name says another, for products of
// 4096³ (v1: 256³, v2: 1024³, 0.0.42: 8192³). All but the bfloat16 ones with
// blocks of 128 are trimmed: instructions that tell nothing of structure, memory
// or spills are "nop", comments have one line.
func open(t testing.TB, name string) fs.FS {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", name+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

func read(t testing.TB, name string) *Schedule {
	t.Helper()
	dump := open(t, name)
	kernels, err := Kernels(dump)
	if err != nil || len(kernels) != 1 {
		t.Fatalf("%s: kernels %v, %v", name, kernels, err)
	}
	s, err := Read(dump, kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRead holds schedules against figures that another program, in another
// language, took from the whole dumps; delay slots and blocks were read by eye.
// On v7x that program counts six slots behind the branch back; the dump shows one.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		dump                              string
		bundles, steps, loop, delay, body int
		conditional                       []int
		fills, spills                     int
		transfers                         []int64
	}{
		{"v4_v3_float32_128", 251, 32768, 229, 1, 127, []int{15}, 0, 0, []int64{65536, 65536, 65536}},
		{"v4_v5_bfloat16_128", 259, 32768, 237, 1, 135, []int{15, 6}, 0, 0, []int64{32768, 32768, 32768}},
		{"v5e_v1_float32_256", 323, 0, 0, 0, 0, nil, 0, 0, []int64{262144, 262144, 262144}},
		{"v5e_v2_float32_256", 1170, 16, 1149, 4, 1086, nil, 0, 0, []int64{1048576, 1048576, 262144}},
		{"v5e_v3_float32_128", 197, 32768, 175, 4, 101, []int{17}, 0, 0, []int64{65536, 65536, 65536}},
		{"v5e_v5_bfloat16_128", 212, 32768, 190, 4, 116, []int{17, 11}, 0, 0, []int64{32768, 32768, 32768}},
		{"v5e_libtpu_0.0.42_v5_bfloat16_512x1024x1024", 8793, 1024, 8771, 4, 8698, []int{513, 260}, 1946, 567, []int64{1 << 20, 2 << 20, 1 << 20}},
		{"v5p_v3_float32_128", 253, 16384, 224, 4, 112, []int{17}, 0, 0, []int64{65536, 65536, 65536}},
		{"v5p_v5_bfloat16_128", 272, 16384, 242, 4, 129, []int{17, 11}, 0, 0, []int64{32768, 32768, 32768}},
		{"v6e_v3_float32_128", 209, 32768, 186, 4, 97, []int{9}, 0, 0, []int64{65536, 65536, 65536}},
		{"v6e_v5_bfloat16_128", 215, 32768, 192, 4, 103, []int{9, 10}, 0, 0, []int64{32768, 32768, 32768}},
		{"v6e_v5_bfloat16_512", 1067, 512, 1044, 4, 954, []int{129, 102}, 0, 0, []int64{1 << 19, 1 << 19, 1 << 19}},
		{"v7x_v3_float32_128", 211, 32768, 194 - 5, 6, 79, []int{1}, 0, 0, []int64{65536, 65536, 65536}},
		{"v7x_v5_bfloat16_128", 224, 32768, 207 - 5, 6, 92, []int{1, 11}, 0, 0, []int64{32768, 32768, 32768}},
		{"v7x_v5_bfloat16_512", 811, 512, 794 - 5, 6, 679, []int{121, 84}, 0, 0, []int64{1 << 19, 1 << 19, 1 << 19}},
	} {
		t.Run(test.dump, func(t *testing.T) {
			s := read(t, test.dump)
			grid, loops := s.Grid()
			body, bodies := s.Body()
			if s.Bundles != test.bundles || s.Steps() != test.steps || grid.Len() != test.loop || s.DelaySlots != test.delay || body.Len() != test.body {
				t.Errorf("bundles %d, steps %d, loop %d, delay slots %d, body %d", s.Bundles, s.Steps(), grid.Len(), s.DelaySlots, body.Len())
			}
			if loops != (test.loop > 0) || bodies != loops {
				t.Errorf("a loop: %v, a body: %v", loops, bodies)
			}
			var conditional []int
			for _, r := range s.Conditional() {
				conditional = append(conditional, r.Len())
			}
			if !slices.Equal(conditional, test.conditional) {
				t.Errorf("conditional regions %v", conditional)
			}
			whole := Span{0, s.Bundles}
			if s.Busy(Fill, whole) != test.fills || s.Busy(Spill, whole) != test.spills {
				t.Errorf("%d fills, %d spills", s.Busy(Fill, whole), s.Busy(Spill, whole))
			}
			granule := int64(32)
			if strings.HasPrefix(test.dump, "v4") {
				granule = 512
			}
			var moved []int64
			for _, x := range s.Transfers {
				moved = append(moved, x.Granules*granule)
			}
			if !slices.Equal(moved, test.transfers) {
				t.Errorf("transfers of %v bytes", moved)
			}
		})
	}
}

// TestSteady_LongStep is the kernel that the project's best figures are of: 512 ×
// 1024 × 1024 products in 8192 cycles of four matrix units at least, if each
// bundle could do but four.
func TestSteady_LongStep(t *testing.T) {
	s := read(t, "v5e_libtpu_0.0.42_v5_bfloat16_512x1024x1024")
	steady, err := s.Steady(1./8, 1./8)
	if want := 8771 - 7./8*(513+260); err != nil || math.Abs(steady-want) > 1e-6 {
		t.Errorf("%v bundles, %v; want %v", steady, err, want)
	}
	if _, err := s.Steady(1. / 8); err == nil {
		t.Error("no error for a program of one condition")
	}
	if same, err := s.Steady(1, 1./8, 0, 1./8); err != nil || same != steady {
		t.Errorf("with conditions that are decided: %v, %v", same, err)
	}
	body, _ := s.Body()
	busy, bundles := s.Busy(Matrix, body.Span), body.Len()
	for _, r := range s.Conditional() {
		busy, bundles = busy-s.Busy(Matrix, r.Span), bundles-r.Len()
	}
	if each := float64(busy) / float64(bundles); each < 3.88 || each > 3.92 { // of 4
		t.Errorf("%.3f slots of the matrix unit in use", each)
	}
	along := s.Along(Matrix, body.Span, 10)
	if len(along) != 10 || along[0] > 0.5 || along[5] < 0.9 || slices.Max(along) > 1 {
		t.Errorf("along the body: %.2f", along)
	}
	if grid, _ := s.Grid(); grid.Len()-body.Len() != 8771-8698 {
		t.Errorf("%d bundles of a turn of the grid outside of the body", grid.Len()-body.Len())
	}
}

// contents reads a dump into memory, to change it.
func contents(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	dump, all := open(t, name), fstest.MapFS{}
	entries, err := fs.ReadDir(dump, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := dump.Open(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = &fstest.MapFile{Data: data}
	}
	return all
}

// TestSteadyLoop: of a loop taken for a body, what the outermost regions do not hold runs in
// each step.
func TestSteadyLoop(t *testing.T) {
	s := read(t, "v5e_v5_bfloat16_128")
	grid, _ := s.Grid()
	var always, never []float64
	want := float64(grid.Len())
	for _, r := range s.Regions {
		if r.Parent < 0 && grid.contains(r.Span) {
			always, never = append(always, 1), append(never, 0)
			want -= float64(r.Len())
		}
	}
	if n, err := s.SteadyLoop(always...); err != nil || n != float64(grid.Len()) || len(always) < 1 {
		t.Errorf("%d regions, %v bundles of %d, %v", len(always), n, grid.Len(), err)
	}
	if n, err := s.SteadyLoop(never...); err != nil || n != want {
		t.Errorf("%v bundles, want %v, %v", n, want, err)
	}
}

// TestRead_Unmarked: one bundle of a loop that is not marked as such does not end it.
func TestRead_Unmarked(t *testing.T) {
	dump := contents(t, "v5e_v5_bfloat16_128")
	want, err := Read(dump, "v5_quant.2")
	if err != nil {
		t.Fatal(err)
	}
	grid, _ := want.Grid()
	mark := fmt.Sprintf("%#x   : > {", grid.From+9)
	for name, f := range dump {
		if strings.HasSuffix(name, bundlesEnd) && !strings.HasSuffix(name, analysisEnd) {
			if !strings.Contains(string(f.Data), mark) {
				t.Fatalf("no %q", mark)
			}
			f.Data = []byte(strings.Replace(string(f.Data), mark, strings.Replace(mark, ">", " ", 1), 1))
		}
	}
	have, err := Read(dump, "v5_quant.2")
	if err != nil || !slices.Equal(have.Loops, want.Loops) {
		t.Errorf("loops %v, %v; want %v", have.Loops, err, want.Loops)
	}
}

// TestRead_Changed alters a dump as a new version of the compiler might.
func TestRead_Changed(t *testing.T) {
	const sound = ""
	for _, test := range []struct{ name, file, old, new, want string }{
		{"unknown lines", bundlesEnd, "= control target key end", "= control target key end\nXX: something new", sound},
		{"unknown unit", slotsEnd, "EUP", "NEW", sound},
		{"one column for the matrix unit", slotsEnd, "MATMUL", "MXU", sound},
		{"unknown analysis", analysisEnd, "Schedule analysis:", "Analysis of a schedule:\n\tbundles in a good mood: 7", sound},
		{"another form", bundlesEnd, "   0x2   :", "   0x2   =", ":12: a bundle has the form"},
		{"a bundle lost", bundlesEnd, "   0x2   :", "   0x3   :", ":12: bundle 0x3 where number 0x2 was expected"},
		{"other addresses", bundlesEnd, "0x", "@", "212 bundles, but "},
		{"no loop mark", bundlesEnd, " LB: >", "   : >", "but no loop body (LB) began"},
		{"other branches", bundlesEnd, "sbr.rel", "jump", "a loop body without a branch back"},
		{"counts differ", analysisEnd, "total scheduled bundles:    212", "total scheduled bundles:    213", ":2: 213 bundles, but "},
		{"no counts", analysisEnd, "scheduled bundles", "bundles", "no line "},
		{"no matrix unit", slotsEnd, "MATMUL", "PRODUCTS", "no unit MXU or MATMUL"},
		{"no units", slotsEnd, "MATMUL, MATPUSH, XLU, VALU, VPOP, EUP, VLOAD, VLOAD:FILL, VSTORE, VSTORE:SPILL, SALU", "", "no line with the names of units"},
		{"a column more", slotsEnd, "MATMUL, ", "MATMUL, NEW, ", ":3: capacities: 11 numbers, not 12"},
		{"over capacity", slotsEnd, "0 0 0 0 0 0 0 0 0 0 2", "0 0 0 0 0 9 0 0 0 0 2", "9 slots of EUP in use, of 1"},
		{"rows lost", slotsEnd, "0 0 0 0 0 0 0 0 0 0 2\n", "", "slots of "},
		{"no number", slotsEnd, "0 0 0 0 0 0 0 0 0 0 2\n", "0 0 0 0 0 0 0 0 0 0 x\n", `"x" is no count`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dump := contents(t, "v5e_v5_bfloat16_128")
			for name, f := range dump {
				if !strings.HasSuffix(name, test.file) || test.file == bundlesEnd && strings.HasSuffix(name, analysisEnd) {
					continue
				}
				changed := strings.ReplaceAll(string(f.Data), test.old, test.new)
				if changed == string(f.Data) {
					t.Fatalf("%s has no %q", name, test.old)
				}
				f.Data = []byte(changed)
			}
			_, err := Read(dump, "v5_quant.2")
			if test.want == sound {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var format *FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("have %v, want a *FormatError with %q", err, test.want)
			}
		})
	}
}

func TestRead_Files(t *testing.T) {
	dump := contents(t, "v5e_v5_bfloat16_128")
	for _, name := range []string{"17-TLP-73-final_bundles.txt", "17-<late-finalization>-68-final_bundles.txt", "notes.txt"} {
		dump[name] = &fstest.MapFile{}
	}
	// An older dump of the kernel is not read.
	dump["17-v5_quant.2-71-final_bundles.txt"] = &fstest.MapFile{Data: []byte("old")}
	if names, err := Kernels(dump); err != nil || !slices.Equal(names, []string{"v5_quant.2"}) {
		t.Errorf("kernels %q, %v", names, err)
	}
	if _, err := Read(dump, "v5_quant.2"); err != nil {
		t.Error(err)
	}
	if _, err := Read(dump, "v4"); err == nil || !strings.Contains(err.Error(), "there is: v5_quant.2") {
		t.Errorf("of another kernel: %v", err)
	}
	for name := range dump {
		if strings.HasSuffix(name, slotsEnd) {
			delete(dump, name)
		}
	}
	var format *FormatError
	if _, err := Read(dump, "v5_quant.2"); !errors.As(err, &format) {
		t.Errorf("without a file: %v", err)
	}
}

// FuzzRead has no dump end in a panic. What is fuzzed is two edits of a dump, each a
// place in one of its three files, how many bytes go there and what comes instead:
// dumps as a whole are too long for a fuzzer to get on with.
func FuzzRead(f *testing.F) {
	names := map[string]string{}
	var parts []string
	for name, file := range contents(f, "v5e_v3_float32_128") {
		names[name] = string(file.Data)
	}
	for _, end := range []string{"-71" + bundlesEnd, analysisEnd, slotsEnd} {
		for name, data := range names {
			if strings.HasSuffix(name, end) {
				parts = append(parts, data)
			}
		}
	}
	edit := func(in []string, file uint8, at, length uint16, put string) {
		i := int(file) % len(in)
		text := in[i]
		from := int(at) % (len(text) + 1)
		to := min(len(text), from+int(length))
		in[i] = text[:from] + put + text[to:]
	}
	f.Add(uint8(0), uint16(0), uint16(0), "", uint8(1), uint16(0), uint16(0), "")
	f.Add(uint8(0), uint16(2000), uint16(1), "9", uint8(0), uint16(5000), uint16(200), "")
	f.Add(uint8(1), uint16(40), uint16(1), "-", uint8(2), uint16(300), uint16(65535), "x")
	f.Fuzz(func(t *testing.T, file uint8, at, length uint16, put string, file2 uint8, at2, length2 uint16, put2 string) {
		p := slices.Clone(parts)
		edit(p, file, at, length, put)
		edit(p, file2, at2, length2, put2)
		s, err := Read(fstest.MapFS{
			"1-k-1" + bundlesEnd:  {Data: []byte(p[0])},
			"1-k-2" + analysisEnd: {Data: []byte(p[1])},
			"1-k-3" + slotsEnd:    {Data: []byte(p[2])},
		}, "k")
		if err != nil {
			return
		}
		body, _ := s.Body()
		s.Slots(body.Span)
		s.Along(Matrix, body.Span, 7)
		s.Steady(make([]float64, len(s.Conditional()))...)
	})
}
