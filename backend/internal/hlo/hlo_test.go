package hlo

import (
	"bytes"
	"os"
	"testing"
)

// loop is what libtpu 0.0.51 makes, for a v5e, of a loop of 512³ bfloat16 products:
// it keeps one operand in VMEM, memory 1.
func loop(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/loop_v5e.pb")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRead(t *testing.T) {
	m, err := Read("hlo_with_config", loop(t))
	if err != nil {
		t.Fatal(err)
	}
	loops := m.Loops()
	if m.Name != "xla" || len(loops) != 1 {
		t.Fatalf("module %s has %d loops", m.Name, len(loops))
	}
	var spaces []int64
	for _, a := range loops[0].Shape.Arrays() {
		if len(a.Dimensions) != 2 || a.Dimensions[0] != 512 || a.Dimensions[1] != 512 {
			t.Errorf("the loop carries %v", a.Dimensions)
		}
		spaces = append(spaces, a.Space)
	}
	if len(spaces) != 3 || spaces[0]+spaces[1]+spaces[2] != 1 {
		t.Errorf("its arrays are in memories %v, want one in 1 and two in 0", spaces)
	}
	products := 0
	for _, i := range m.Body(loops[0]).Instructions {
		if i.Opcode == "fusion" && len(i.Operands) == 2 {
			products++
		}
	}
	if products != 1 {
		t.Errorf("%d products in the body", products)
	}
	if m.Body(m.Entry.Instructions[0]) != nil {
		t.Error("a body of what is no loop")
	}
}

// TestRead_Cut reads beginnings of a module: errors, or less of it, but no panic.
func TestRead_Cut(t *testing.T) {
	text := loop(t)
	for n := range text {
		Read("hlo_with_config", text[:n])
		Read("hlo", text[n:])
	}
	for format, text := range map[string][]byte{"hlo": nil, "hlo_with_config": nil, "mlir": text} {
		if _, err := Read(format, text); err == nil {
			t.Errorf("%d bytes of format %s are a module", len(text), format)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(loop(f))
	f.Add([]byte{0x0a, 0x03, 'a', 'b', 'c', 0x30, 0x01})
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read("hlo", text)
		if err != nil {
			return
		}
		for _, i := range m.Loops() {
			i.Shape.Arrays()
			m.Body(i)
		}
	})
}

// TestOverrides compares with the bytes that the rules of protocol buffers give for
// env_option_overrides {key: "a" value {bool_field: true}}, b, false, and c, int_field 300.
func TestOverrides(t *testing.T) {
	want := []byte{
		0x3a, 7, 0x0a, 1, 'a', 0x12, 2, 0x10, 1,
		0x3a, 7, 0x0a, 1, 'b', 0x12, 2, 0x10, 0,
		0x3a, 8, 0x0a, 1, 'c', 0x12, 3, 0x18, 0xac, 0x02,
	}
	if got := Overrides(Options{"b": false, "c": int64(300), "a": true}); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	if got := Overrides(nil); len(got) > 0 {
		t.Errorf("no options are % x", got)
	}
}
