package process

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/internal/known"
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
	if p.Batch != 1 || p.TransB || p.Epilogue() != "" {
		return fmt.Errorf("%s is asked for one product at a time, without bias or activation", b.Name())
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
	return known.Names(b.formsOf(p), func(f form) string { return f.variant })
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
	var list []form
	for _, f := range forms {
		if f.a == p.A && f.b == p.B && f.out == p.Out && f.scaled == (p.Quant != problem.NoQuant) && slices.Contains(b.has, f.name) {
			list = append(list, f)
		}
	}
	return list
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
	return fmt.Sprintf(verb+" %s %d %d %d %d %d", fits[i].name, p.M, p.K, p.N, scalesA, scalesB), nil
}
