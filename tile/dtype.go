package tile

import (
	"fmt"
	"strings"
)

// Dtype is the type of one element. Its size is given in bits, since int4 has
// no whole number of bytes.
type Dtype uint8

// The element types. Bool is the type of comparisons and is never in memory.
const (
	InvalidDtype Dtype = iota
	Bool
	Float32
	BFloat16
	Float8E4M3FN
	Float8E5M2
	Int32
	Int8
	Uint8
	Int4
	Float16
	Float4E2M1FN  // sign, two bits of exponent, one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4 and 6
	Float8E8M0FNU // a power of two, of scales: 2^(code-127), or NaN; no sign, no zero
)

var dtypes = [...]struct {
	name    string
	bits    int
	integer bool
}{
	InvalidDtype:  {"invalid", 0, false},
	Bool:          {"bool", 1, false},
	Float32:       {"float32", 32, false},
	BFloat16:      {"bfloat16", 16, false},
	Float8E4M3FN:  {"float8_e4m3fn", 8, false},
	Float8E5M2:    {"float8_e5m2", 8, false},
	Int32:         {"int32", 32, true},
	Int8:          {"int8", 8, true},
	Uint8:         {"uint8", 8, true},
	Int4:          {"int4", 4, true},
	Float16:       {"float16", 16, false},
	Float4E2M1FN:  {"float4_e2m1fn", 4, false},
	Float8E8M0FNU: {"float8_e8m0fnu", 8, false},
}

// Dtypes lists the types an array may have, widest float first.
func Dtypes() []Dtype {
	return []Dtype{Float32, BFloat16, Float16, Float8E4M3FN, Float8E5M2, Float8E8M0FNU, Float4E2M1FN, Int32, Int8, Uint8, Int4}
}

// ParseDtype returns the dtype spelled s, exactly as String spells it.
func ParseDtype(s string) (Dtype, error) {
	names := make([]string, 0, len(dtypes))
	for _, d := range Dtypes() {
		if d.String() == s {
			return d, nil
		}
		names = append(names, d.String())
	}
	return InvalidDtype, fmt.Errorf("unknown dtype %q (known: %s)", s, strings.Join(names, ", "))
}

// String returns the one spelling used in programs, YAML and CSV.
func (d Dtype) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// known is d, or InvalidDtype in the place of a number that is none of the types.
func (d Dtype) known() Dtype {
	if int(d) < len(dtypes) {
		return d
	}
	return InvalidDtype
}

// Bits returns the size of one element in bits.
func (d Dtype) Bits() int { return dtypes[d.known()].bits }

// IsInteger reports whether arithmetic in d is exact.
func (d Dtype) IsInteger() bool { return dtypes[d.known()].integer }

// IsFloat reports whether d is a floating-point type.
func (d Dtype) IsFloat() bool { return d.Bits() > 1 && !d.IsInteger() }

// Bytes returns the bytes that n densely packed elements of d take.
func (d Dtype) Bytes(n int64) int64 { return (n*int64(d.Bits()) + 7) / 8 }

// DotResult returns the type in which a Dot of operands a and b accumulates:
// int32 for integers, float32 for floats; InvalidDtype if the two cannot meet, as
// of float8_e8m0fnu, which is of scales.
func DotResult(a, b Dtype) Dtype {
	switch {
	case a.IsInteger() && b.IsInteger() && a.Bits() <= 8 && b.Bits() <= 8:
		return Int32
	case a == Float8E8M0FNU, b == Float8E8M0FNU: // scales
	case a.IsFloat() && a == b, a.IsFloat() && b.IsFloat() && a.Bits() <= 8 && b.Bits() <= 8:
		return Float32
	}
	return InvalidDtype
}

// MarshalText spells the dtype as String does.
func (d Dtype) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Dtype) UnmarshalText(text []byte) error {
	v, err := ParseDtype(string(text))
	if err == nil {
		*d = v
	}
	return err
}
