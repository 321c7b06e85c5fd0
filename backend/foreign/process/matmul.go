package process

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// multiplies asks libraries of matrix products, through the C program.
type multiplies struct{}

func (multiplies) hello(*Backend) (string, [][]byte) { return "hello", nil }

func (multiplies) supports(b *Backend, asked problem.Problem) error {
	p, ok := asked.(problem.Matmul)
	if !ok {
		return fmt.Errorf("%s is a library of matrix products", b.Name())
	}
	if p.TransB || p.Epilogue() != "" || p.Batch > 1 && !p.A.IsFloat() {
		return fmt.Errorf("%s is asked for products as they are, without bias or activation, those of a batch of floats", b.Name())
	}
	if _, _, err := scalesOf(p); err != nil {
		return fmt.Errorf("%s is %w", b.Name(), err)
	}
	if len(b.formsOf(p)) == 0 {
		return fmt.Errorf("%s %s has no product %s", b.Name(), b.version, strings.TrimSpace(fmt.Sprintf("%s×%s→%s %s", p.A, p.B, p.Out, p.Quant)))
	}
	return nil
}

func (multiplies) variants(b *Backend, asked problem.Problem) []string {
	p, _ := asked.(problem.Matmul)
	return each.Of(b.formsOf(p), func(f form) string { return f.variant })
}

// A form is a product that the C program knows.
type form struct {
	name, variant string
	a, b, out     tile.Dtype
	scaled        bool // by scales of a and of b
}

var forms = []form{
	{"f32", "", tile.Float32, tile.Float32, tile.Float32, false},
	{"bf16_f32", "", tile.BFloat16, tile.BFloat16, tile.Float32, false},
	{"bf16_bf16", "", tile.BFloat16, tile.BFloat16, tile.BFloat16, false},
	{"f16_f32", "", tile.Float16, tile.Float16, tile.Float32, false},
	{"f16_f16", "", tile.Float16, tile.Float16, tile.Float16, false},
	{"s8_s32", "", tile.Int8, tile.Int8, tile.Int32, false},
	{"u8_s32", Unsigned, tile.Int8, tile.Int8, tile.Int32, false},
	{"u8_s32", "", tile.Uint8, tile.Int8, tile.Int32, false},
	{"s8_f32", "", tile.Int8, tile.Int8, tile.Float32, true},
	{"s8_bf16", "", tile.Int8, tile.Int8, tile.BFloat16, true},
	{"u8_f32", Unsigned, tile.Int8, tile.Int8, tile.Float32, true},
	{"u8_bf16", Unsigned, tile.Int8, tile.Int8, tile.BFloat16, true},
}

// formsOf are the forms of p that the library has.
func (b *Backend) formsOf(p problem.Matmul) []form {
	return each.That(forms, func(f form) bool {
		return f.a == p.A && f.b == p.B && f.out == p.Out && f.scaled == (p.Quant != problem.NoQuant) && slices.Contains(b.has, f.name)
	})
}

// keeps: a library of products loads in milliseconds.
func (multiplies) keeps() bool { return false }

func (multiplies) products(b *Backend) []string {
	var list []string
	for _, f := range forms {
		if f.variant == "" && slices.Contains(b.has, f.name) {
			s := fmt.Sprintf("%s×%s→%s", f.a, f.b, f.out)
			if f.scaled {
				s += " scaled"
			}
			list = append(list, s)
		}
	}
	return list
}

func (multiplies) request(b *Backend, spec backend.ProblemSpec) (string, error) {
	p := spec.Problem.(problem.Matmul) // or it is not supported
	scalesA, scalesB, err := scalesOf(p)
	if err != nil {
		return "", err
	}
	fits := b.formsOf(p)
	i := slices.IndexFunc(fits, func(f form) bool { return f.variant == spec.Variant })
	verb := "product"
	if b.options.Packed {
		verb = "packed"
	}
	return fmt.Sprintf(verb+" %s %d %d %d %d %d %d", fits[i].name, p.Batch, p.M, p.K, p.N, scalesA, scalesB), nil
}

// errScales ends a sentence that begins with the library's name.
var errScales = errors.New("asked for scales that are given, one for all of a or for each row, one for all of b or for each column")

// scalesOf returns how many scales p has of a, one or one for each row, and of b, one or one
// for each column, 0 if nothing is scaled; or why no peer is asked for a product of that
// quantization.
func scalesOf(p problem.Matmul) (a, b int, err error) {
	s, err := p.Scheme()
	if err != nil || s.B == problem.NoGrain {
		return 0, 0, err
	}
	if s.Dynamic || s.ZeroA || s.ZeroB || s.A == problem.NoGrain || s.B == problem.Block {
		return 0, 0, errScales
	}
	a, b = 1, 1
	if s.A == problem.Token {
		a = p.M
	}
	if s.B == problem.Channel {
		b = p.N
	}
	return a, b, nil
}

// operandsOf are the arrays that a peer is loaded with, in the order in which they are
// handed over, and the one that comes back.
func operandsOf(asked problem.Problem) (in, out []problem.Operand, err error) {
	in, out = stage.Split(asked.Operands())
	if p, ok := asked.(problem.Matmul); ok {
		var a, b int
		if a, b, err = scalesOf(p); a > 0 {
			in = append(in, problem.Operand{Name: "sa", Dtype: tile.Float32, Shape: []int{a, 1}}, problem.Operand{Name: "sb", Dtype: tile.Float32, Shape: []int{1, b}})
		}
	}
	return in, out, err
}
