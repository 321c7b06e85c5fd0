package problem

import (
	"math"
	"strings"
	"testing"

	"matladder/tile"
)

func TestParseQuant(t *testing.T) {
	for text, want := range map[string]Scheme{
		"":                             {},
		"per_tensor":                   {B: Tensor, Scales: tile.Float32},
		"per_channel+token":            {B: Channel, A: Token, Scales: tile.Float32},
		"per_block128":                 {B: Block, Block: 128, Scales: tile.Float32},
		"per_block32+dynamic_token":    {B: Block, Block: 32, A: Token, Dynamic: true, Scales: tile.Float32},
		"per_block32+token_block+e8m0": {B: Block, Block: 32, A: TokenBlock, Scales: tile.Float8E8M0FNU},
		"per_block16+e4m3":             {B: Block, Block: 16, Scales: tile.Float8E4M3FN},
		"per_block32+dynamic_token_block+e8m0_up":  {B: Block, Block: 32, A: TokenBlock, Dynamic: true, Scales: tile.Float8E8M0FNU, Up: true},
		"per_block64+token_block":                  {B: Block, Block: 64, A: TokenBlock, Scales: tile.Float32},
		"per_channel+dynamic_tensor+zero_a+zero_b": {B: Channel, A: Tensor, Dynamic: true, ZeroA: true, ZeroB: true, Scales: tile.Float32},
	} {
		got, err := Quant(text).Scheme()
		if err != nil || got != want || got.Quant() != Quant(text) {
			t.Errorf("%q: %+v (%q), %v", text, got, got.Quant(), err)
		}
	}
	if q, err := ParseQuant("per_tensor+zero_b+zero_a+token"); err != nil || q != "per_tensor+token+zero_a+zero_b" {
		t.Errorf("words in another order: %q, %v", q, err)
	}
	for text, want := range map[string]string{
		"int8": "unknown word", "per_block": "number of elements", "per_block1": "number of elements",
		"per_block0128": "number of elements", "token": "comes first", "token+per_tensor": "comes first",
		"per_tensor+per_channel": "comes first", "per_tensor+token+tensor": "says again",
		"per_tensor+zero_a+zero_a": "says again", "per_tensor+": "unknown word",
	} {
		if q, err := ParseQuant(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, q, err, want)
		}
	}
}

func FuzzParseQuant(f *testing.F) {
	for _, s := range []string{"per_block128+dynamic_token+zero_b", "per_tensor", "+", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseQuant(s)
		if err != nil {
			return
		}
		if again, err := ParseQuant(string(q)); err != nil || again != q {
			t.Errorf("%q is spelled %q, then %q, %v", s, q, again, err)
		}
	})
}

func TestScheme(t *testing.T) {
	problem := func(a, b, out tile.Dtype, q Quant) Matmul {
		p := New(64, 256, 32, a)
		p.B, p.Out, p.Quant = b, out, q
		x, y := p.Factors()
		p.Acc = tile.DotResult(x, y)
		return p
	}
	for _, test := range []struct {
		p    Matmul
		a, b tile.Dtype // what is multiplied
		want string     // of an error
	}{
		{problem(tile.Int8, tile.Int8, tile.BFloat16, "per_tensor"), tile.Int8, tile.Int8, ""},
		{problem(tile.Int8, tile.Int4, tile.BFloat16, "per_block64+token"), tile.Int8, tile.Int4, ""},
		{problem(tile.BFloat16, tile.Int8, tile.BFloat16, "per_channel+dynamic_token"), tile.Int8, tile.Int8, ""},
		{problem(tile.BFloat16, tile.Int4, tile.BFloat16, "per_channel+dynamic_token"), tile.Int8, tile.Int4, ""},
		{problem(tile.Float32, tile.Float8E4M3FN, tile.Float32, "per_channel+dynamic_token"), tile.Float8E4M3FN, tile.Float8E4M3FN, ""},
		{problem(tile.BFloat16, tile.Int4, tile.BFloat16, "per_block128+zero_b"), tile.BFloat16, tile.BFloat16, ""},
		{problem(tile.Int8, tile.Int8, tile.Int32, "per_tensor"), tile.Int8, tile.Int8, "output"},
		{problem(tile.BFloat16, tile.BFloat16, tile.BFloat16, "per_tensor"), tile.BFloat16, tile.BFloat16, "b is bfloat16"},
		{problem(tile.Int8, tile.Int8, tile.BFloat16, "per_tensor+dynamic_token"), tile.Int8, tile.Int8, "already"},
		{problem(tile.BFloat16, tile.Int8, tile.BFloat16, "per_tensor+token"), tile.BFloat16, tile.BFloat16, "no scales"},
		{problem(tile.BFloat16, tile.Int8, tile.BFloat16, "per_tensor+zero_a"), tile.BFloat16, tile.BFloat16, "no zero point"},
		{problem(tile.BFloat16, tile.Int8, tile.BFloat16, "per_block64+dynamic_token_block"), tile.Int8, tile.Int8, ""},
		{problem(tile.Int8, tile.Int8, tile.BFloat16, "per_channel+token_block"), tile.Int8, tile.Int8, "per_block128"},
		{problem(tile.Int8, tile.Int8, tile.BFloat16, "per_block64+zero_a"), tile.Int8, tile.Int8, "one scale for a whole column"},
		{problem(tile.BFloat16, tile.Uint8, tile.BFloat16, "per_tensor+dynamic_token"), tile.Uint8, tile.Uint8, "b is uint8"},
		{problem(tile.Uint8, tile.Int8, tile.BFloat16, "per_tensor"), tile.Uint8, tile.Uint8, "a is uint8"},
		{problem(tile.Int32, tile.Int8, tile.BFloat16, "per_tensor+dynamic_token"), tile.Int8, tile.Int8, "a is int32"},
		{problem(tile.Float8E5M2, tile.Float8E5M2, tile.BFloat16, "per_tensor+zero_b"), tile.Float8E5M2, tile.Float8E5M2, "integer dtype"},
	} {
		if a, b := test.p.Factors(); a != test.a || b != test.b {
			t.Errorf("%s %s multiplies %s by %s", test.p, test.p.Quant, a, b)
		}
		err := test.p.Validate()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %s: %v, want %q", test.p, test.p.Quant, err, test.want)
		}
	}
	for _, deep := range []struct {
		a, b tile.Dtype
		q    Quant
		most int // elements of k
	}{
		{tile.Int8, tile.Int8, "per_channel+token", 1<<17 - 1},
		{tile.Int8, tile.Int4, "per_channel", math.MaxInt32 >> 10},
		{tile.Int8, tile.Int8, "per_tensor+zero_a", math.MaxInt32 / (255 * 128)},
		{tile.BFloat16, tile.Int8, "per_channel+dynamic_token+zero_a+zero_b", math.MaxInt32 / (255 * 255)},
	} {
		p := problem(deep.a, deep.b, tile.BFloat16, deep.q)
		for k, ok := range map[int]bool{deep.most: true, deep.most + 1: false} {
			if p.K = k; (p.Validate() == nil) != ok {
				t.Errorf("%s, k = %d: %v", deep.q, k, p.Validate())
			}
		}
	}
	grouped := problem(tile.Int8, tile.Int8, tile.BFloat16, "per_block128+zero_b")
	if grouped.K = 1 << 20; grouped.Validate() != nil {
		t.Error(grouped.Validate())
	}
}

func TestEpilogue(t *testing.T) {
	for _, s := range []string{"", "bias", "relu", "gelu", "silu", "bias+relu"} {
		e, err := ParseEpilogue(s)
		if p := e.Apply(New(1, 1, 1, tile.Float32)); err != nil || p.Epilogue() != Epilogue(s) || p.Validate() != nil {
			t.Errorf("%q: %q, %v", s, p.Epilogue(), err)
		}
	}
	for _, s := range []string{"tanh", "bias+", "relu+bias", "biasrelu", "+relu"} {
		if _, err := ParseEpilogue(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
	for e, ok := range map[Epilogue]bool{"relu": true, "gelu": false, "bias": false} {
		if err := e.Apply(New(1, 1, 1, tile.Int8)).Validate(); (err == nil) != ok {
			t.Errorf("%s of int32: %v", e, err)
		}
	}
}
