package ttir

import (
	"strconv"
	"strings"
)

// shaped is a type: of a scalar without dims.
type shaped struct {
	dims []int
	elem string // what a tensor has; of a pointer !tt.ptr<f16>
}

func (s shaped) elements() int64 {
	n := int64(1)
	for _, d := range s.dims {
		n *= int64(d)
	}
	return n
}

// pointee is what a pointer points to.
func (s shaped) pointee() string {
	inner, ok := strings.CutPrefix(s.elem, "!tt.ptr<")
	if !ok {
		return ""
	}
	inner, _, _ = strings.Cut(strings.TrimSuffix(inner, ">"), ",") // an address space
	return inner
}

const (
	maxElements = 1 << 20 // of a tensor, as in Triton
	maxDims     = 8
)

// typeOf reads i32, tensor<16x32xf32> or <128x64xf16>.
func typeOf(text string) (shaped, bool) {
	text = strings.TrimSpace(text)
	start := tensorText.FindString(text)
	if start == "" {
		return shaped{elem: text}, text != ""
	}
	var s shaped
	inner := strings.TrimSuffix(text[len(start):], ">")
	for m := dimText.FindStringSubmatch(inner); m != nil; m = dimText.FindStringSubmatch(inner) {
		n, err := strconv.Atoi(m[1])
		s.dims = append(s.dims, n)
		if err != nil || n < 1 || n > maxElements || s.elements() > maxElements || len(s.dims) > maxDims {
			return s, false
		}
		inner = inner[len(m[0]):]
	}
	if s.elem = inner; strings.Count(s.elem, "<") < strings.Count(s.elem, ">") {
		s.elem = strings.TrimSuffix(s.elem, ">")
	}
	return s, s.elem != ""
}

// withoutLocation takes each loc(…) out of a line.
func withoutLocation(line string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(line, " loc(")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		depth, quoted, at := 1, false, 0
		for ; at < len(rest) && depth > 0; at++ {
			switch c := rest[at]; {
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
		}
		line = rest[at:]
	}
}

// lastColon is where the types begin: behind the last colon outside of braces.
func lastColon(line string) int {
	depth := 0
	for i := len(line) - 1; i > 0; i-- {
		switch line[i] {
		case '}':
			depth++
		case '{':
			depth--
		case ':':
			if depth == 0 && line[i-1] == ' ' && i+1 < len(line) && line[i+1] == ' ' {
				return i - 1
			}
		}
	}
	return -1
}

// split cuts a list at the commas outside of brackets.
func split(list string) (parts []string) {
	depth, start := 0, 0
	for i := range len(list) {
		switch c := list[i]; {
		case strings.IndexByte("<({[", c) >= 0:
			depth++
		case strings.IndexByte(">)}]", c) >= 0 && (i == 0 || list[i-1] != '-'):
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, strings.TrimSpace(list[start:i])), i+1
		}
	}
	if strings.TrimSpace(list) != "" {
		parts = append(parts, strings.TrimSpace(list[start:]))
	}
	return parts
}
