package gemm

import "testing"

func TestISA(t *testing.T) {
	for isa := Generic; isa <= NEON; isa++ {
		parsed, err := ParseISA(isa.String())
		if err != nil || parsed != isa {
			t.Errorf("ParseISA(%q) = %v, %v", isa, parsed, err)
		}
		missing := isa.Missing()
		if (For(isa) == nil) != (len(missing) > 0) {
			t.Errorf("For(%v) = %v while %q is missing", isa, For(isa), missing)
		}
		if k := For(isa); k != nil && k.ISA != isa {
			t.Errorf("For(%v).ISA = %v", isa, k.ISA)
		}
		if len(missing) > 0 {
			t.Logf("not tested on this machine: %v, which lacks %q", isa, missing)
		}
	}
	if len(Generic.Missing()) > 0 {
		t.Error("the generic kernels are missing")
	}
	if _, err := ParseISA("AVX9"); err == nil {
		t.Error("ParseISA accepts AVX9")
	}
	if For(NEON+1) != nil {
		t.Error("an unknown instruction set has kernels")
	}
	supported := Supported()
	if Detect() != supported[len(supported)-1] {
		t.Errorf("Detect() = %v of %v", Detect(), supported)
	}
}
