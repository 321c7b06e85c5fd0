package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// Quant is how narrow operands stand for real numbers, as words joined by +.
// "" says that operands are what they are.
//
//	per_tensor, per_channel, per_block128    which elements of b share a scale
//	tensor, token, token_block               which elements of a do, its scales given
//	dynamic_tensor, dynamic_token, …         the same, a quantized inside each launch
//	zero_a, zero_b                           zero points beside the scales of a, of b
//	e8m0, e8m0_up, e4m3                      how the scales of groups of k are stored
//
// The first word is about b and always there. Without one about a, a narrow a has one scale and a
// wide one none. So per_channel+dynamic_token multiplies int8 weights by activations that come as
// bfloat16 and are quantized row by row, per_block128+dynamic_token_block by such that are
// quantized in pieces of 128 elements of a row, and per_block128 with a in bfloat16 and b in int4
// is quantization of the weights alone.
//
// Scales are float32. With e8m0 those of groups are powers of two, as float8_e8m0fnu: the
// MX formats of OCP, groups of 32; e8m0_up rounds them up where OCP rounds down. With e4m3 they are float8_e4m3fn, and each operand has one
// float32 scale beside them, ta and tb: NVFP4, groups of 16. See Formats.
//
// A result that float32 holds is right to a few roundings whatever the size of the scales, from
// 2^-126 on: kernels apply them so that nothing on the way is out of range. There are two limits. Scales
// of groups of k lie within 2^±64, as sums of groups by them are float32. So are sums of codes
// by an a that has no scales, before they are scaled.
type Quant string

// Quantizations that code names.
const (
	NoQuant   Quant = ""
	PerTensor Quant = "per_tensor" // o = sa·sb·(a @ b), sa and sb float32 of shape (1, 1)
)

// Grain is which elements of an operand share a scale.
type Grain uint8

// The grains, from none to fine.
const (
	NoGrain    Grain = iota // no scales
	Tensor                  // all elements
	Channel                 // a column of b
	Token                   // a row of a
	Block                   // Scheme.Block elements of a column of b
	TokenBlock              // as many of a row of a
)

func (g Grain) String() string {
	return [...]string{"none", "tensor", "channel", "token", "block", "token_block"}[g]
}

// Scheme is a Quant taken apart.
type Scheme struct {
	B       Grain // Tensor, Channel or Block; NoGrain for no quantization at all
	Block   int   // elements of k that share a scale of b, if B is Block
	A       Grain // Tensor, Token or TokenBlock; NoGrain if a is not quantized, or the Quant leaves it to a's dtype
	Dynamic bool  // a comes wide and is quantized inside each launch
	ZeroA   bool  // a = sa·(qa - za)
	ZeroB   bool  // b = sb·(qb - zb)
	// Scales is how those of groups of k are stored: float32, float8_e8m0fnu, or float8_e4m3fn,
	// which come with one more for a whole operand.
	Scales tile.Dtype
	Up     bool // powers of two are rounded up, so that no code saturates, not down as OCP has it
}

// TwoLevels reports whether an operand whose groups have scales has one of all of it as well.
func (s Scheme) TwoLevels() bool { return s.Scales == tile.Float8E4M3FN }

// maxBlock bounds the elements of k that share a scale.
const maxBlock = 1 << 20

// ParseQuant reads a Quant and returns it with its words in the one order that rows have.
func ParseQuant(s string) (Quant, error) {
	scheme, err := Quant(s).Scheme()
	return scheme.Quant(), err
}

// Scheme takes q apart.
func (q Quant) Scheme() (Scheme, error) {
	if q == NoQuant {
		return Scheme{}, nil
	}
	s := Scheme{Scales: tile.Float32}
	seen := map[string]bool{}
	for i, word := range strings.Split(string(q), "+") {
		kind, err := s.read(word)
		switch {
		case err != nil:
			return Scheme{}, fmt.Errorf("quantization %q: %w", q, err)
		case (kind == "b") != (i == 0):
			return Scheme{}, fmt.Errorf("quantization %q: one of per_tensor, per_channel, per_block128 comes first and once", q)
		case seen[kind]:
			return Scheme{}, fmt.Errorf("quantization %q: %s says again what another word says", q, word)
		}
		seen[kind] = true
	}
	return s, nil
}

// words are all but per_block128, by what they set.
var words = []struct {
	word, kind string
	set        func(*Scheme)
}{
	{"per_tensor", "b", func(s *Scheme) { s.B = Tensor }},
	{"per_channel", "b", func(s *Scheme) { s.B = Channel }},
	{"tensor", "a", func(s *Scheme) { s.A = Tensor }},
	{"token", "a", func(s *Scheme) { s.A = Token }},
	{"dynamic_tensor", "a", func(s *Scheme) { s.A, s.Dynamic = Tensor, true }},
	{"dynamic_token", "a", func(s *Scheme) { s.A, s.Dynamic = Token, true }},
	{"token_block", "a", func(s *Scheme) { s.A = TokenBlock }},
	{"dynamic_token_block", "a", func(s *Scheme) { s.A, s.Dynamic = TokenBlock, true }},
	{"zero_a", "zero_a", func(s *Scheme) { s.ZeroA = true }},
	{"zero_b", "zero_b", func(s *Scheme) { s.ZeroB = true }},
	{"e8m0", "scales", func(s *Scheme) { s.Scales = tile.Float8E8M0FNU }},
	{"e8m0_up", "scales", func(s *Scheme) { s.Scales, s.Up = tile.Float8E8M0FNU, true }},
	{"e4m3", "scales", func(s *Scheme) { s.Scales = tile.Float8E4M3FN }},
}

const blockWord = "per_block"

// quantWords lists the words of a Quant, for messages.
func quantWords() []string {
	list := []string{blockWord + "128"}
	for _, w := range words {
		list = append(list, w.word)
	}
	slices.Sort(list)
	return list
}

// read sets what one word says and returns what kind of word it is.
func (s *Scheme) read(word string) (kind string, err error) {
	for _, w := range words {
		if w.word == word {
			w.set(s)
			return w.kind, nil
		}
	}
	if size, ok := strings.CutPrefix(word, blockWord); ok {
		n, err := strconv.Atoi(size)
		if err != nil || n < 2 || n > maxBlock || strconv.Itoa(n) != size {
			return "", fmt.Errorf("%s: want a number of elements from 2 to %d, as in per_block128", word, maxBlock)
		}
		s.B, s.Block = Block, n
		return "b", nil
	}
	return "", fmt.Errorf("unknown word %q (known: %s)", word, strings.Join(quantWords(), ", "))
}

// Quant spells s.
func (s Scheme) Quant() Quant {
	var list []string
	switch s.B {
	case NoGrain:
		return NoQuant
	case Block:
		list = append(list, blockWord+strconv.Itoa(s.Block))
	default:
		list = append(list, "per_"+s.B.String())
	}
	switch {
	case s.Dynamic:
		list = append(list, "dynamic_"+s.A.String())
	case s.A != NoGrain:
		list = append(list, s.A.String())
	}
	if s.ZeroA {
		list = append(list, "zero_a")
	}
	if s.ZeroB {
		list = append(list, "zero_b")
	}
	switch {
	case s.Up:
		list = append(list, "e8m0_up")
	case s.Scales == tile.Float8E8M0FNU:
		list = append(list, "e8m0")
	case s.TwoLevels():
		list = append(list, "e4m3")
	}
	return Quant(strings.Join(list, "+"))
}
