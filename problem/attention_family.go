package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// AttentionFamily is the family of Attention. What is asked of one is spelled as a dtype
// and, behind a colon, words joined by +: causal, end (AtEnd), window and the keys to the
// left and right of it with - for no end (window1023,0; window64,-), cap and a number
// (cap50), bias, sinks, segments, lengths (examples have rows and keys of their own, LengthsOf),
// pages and the keys of one (pages256), and how many there are, if not one for each page that
// examples have (pages256x100); rope or ropeq (Turned), and with them the words of RopeFamily
// that say by which angles.
//
//	bfloat16
//	float32:causal
//	bfloat16:causal+window1023,-+cap50
//	bfloat16:causal+end+lengths+pages256
//	bfloat16:causal+rope+base500000+llama3
//
// Of heads, group share one of k and v; k and v have as many columns as q.
// LogSums are not asked for in sweeps.
var AttentionFamily = &Family{
	Name: "attention", Title: "attention", Figure: PerFLOPs, Pieces: true,
	Sizes:  []Size{{Name: "rows"}, {Name: "keys"}, {"heads", 8}, {"group", 1}, {"dim", 64}, {BatchSize, 1}},
	Dtypes: []string{"float32", "bfloat16", "float32:causal", "bfloat16:causal"},
	Examples: []string{
		"bfloat16:causal+end", "float32:window100,20", "bfloat16:causal+window255,-+cap30", "float32:bias+sinks+segments",
		"bfloat16:causal+end+lengths", "float32:lengths+pages4x7",
		"float32:causal+rope", "bfloat16:causal+end+lengths+rope+interleaved+rotary16+at100", "bfloat16:ropeq",
	},
	Sample:   Sizes{70, 90, 2, 2, 24, 1},
	Parse:    parseWords(completeAttention),
	Complete: completeAttention,
	Make:     fromWords(makeAttention),
}

func completeAttention(a Asked) (Asked, error) {
	if a.Quant != NoQuant || a.Epilogue != "" {
		return a, fmt.Errorf("attention has no quantization and no epilogue")
	}
	return completed(makeAttention(Sizes{1, 1, 1, 1, 1 << 24, 1}, a))
}

func makeAttention(s Sizes, a Asked) (Attention, error) {
	p := Attention{Rows: s[0], Keys: s[1], Heads: s[2], KVHeads: s[2] / max(s[3], 1), Dim: s[4], ValueDim: s[4], Batch: s[5], Dtype: a.A}
	if s[3] > 0 && s[2]%s[3] != 0 {
		p.KVHeads = 0 // Validate refuses it
	}
	err := eachWord(a.Options, p.read)
	return p, err
}

// attentionWords are those of AttentionFamily but for what is turned.
var attentionWords = []word[Attention]{
	flag("causal", func(p *Attention) *bool { return &p.Causal }),
	flag("end", func(p *Attention) *bool { return &p.AtEnd }),
	{"window", "want window and the keys on both sides, as in window1023,0; - is no end", func(p *Attention, rest string) bool {
		left, right, two := strings.Cut(rest, ",")
		var okLeft, okRight bool
		p.Left, okLeft = parseEnd(left)
		p.Right, okRight = parseEnd(right)
		p.Window = true
		return two && okLeft && okRight
	}, func(p *Attention) (string, bool) { return endOf(p.Left) + "," + endOf(p.Right), p.Window }},
	number("cap", "want cap and a positive number, as in cap50", 0, 'g', func(p *Attention) *float64 { return &p.SoftCap }),
	flag("bias", func(p *Attention) *bool { return &p.Bias }),
	flag("sinks", func(p *Attention) *bool { return &p.Sinks }),
	flag("segments", func(p *Attention) *bool { return &p.Segments }),
	flag("lengths", func(p *Attention) *bool { return &p.Lengths }),
	{"pages", "want pages, the keys of one and, if examples share some or there are more, how many there are, as in pages256 and pages256x100", func(p *Attention, rest string) bool {
		size, count, two := strings.Cut(rest, "x")
		var err error
		if p.PageSize, err = ParseSize(size); err == nil && two {
			p.Pages, err = ParseSize(count)
		}
		return err == nil && p.PageSize <= 1<<24
	}, func(p *Attention) (string, bool) {
		if p.Pages > 0 {
			return fmt.Sprintf("%dx%d", p.PageSize, p.Pages), true
		}
		return strconv.Itoa(p.PageSize), p.PageSize > 0
	}},
}

// read sets what one word says.
func (p *Attention) read(word string) error {
	if turned := Turned(word); turned == TurnedBoth || turned == TurnedRows {
		if p.Rope != TurnedNone && p.Rope != turned {
			return fmt.Errorf("%q: rope turns q and k, ropeq q alone: want one of them", word)
		}
		p.Rope = turned
		return nil
	}
	if err := readWord(attentionWords, p, word); err != errUnread {
		return err
	}
	if err := readWord(rotationWords, &p.Rotation, word); err != errUnread {
		return err
	}
	return fmt.Errorf("%q: want causal, end, window1023,0, cap50, bias, sinks, segments, lengths, pages256, rope or ropeq, with these two %s, joined by +", word, rotationForm)
}

// parseEnd reads what endOf spells: the keys to one side of a window.
func parseEnd(s string) (n int, ok bool) {
	if s == "-" {
		return -1, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}

func endOf(n int) string {
	if n < 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// Family is AttentionFamily.
func (Attention) Family() *Family { return AttentionFamily }

// Sizes are rows, keys, heads, group, dim and batch.
func (p Attention) Sizes() Sizes {
	group := 1
	if p.KVHeads > 0 {
		group = p.Group()
	}
	return Sizes{p.Rows, p.Keys, p.Heads, group, p.Dim, p.Batch}
}

// Asked is all but the sizes.
func (p Attention) Asked() Asked {
	return Asked{A: p.Dtype, B: p.Dtype, Acc: tile.Float32, Out: p.Dtype, Options: saidWords(attentionWords, &p, string(p.Rope), p.Rotation.options())}
}

// Operands are the arrays.
func (p Attention) Operands() []Operand {
	kv := []int{p.Batch, p.KVHeads, p.Keys}
	if p.PageSize > 0 {
		kv = []int{p.KVHeads, p.PageCount(), p.PageSize}
	}
	list := []Operand{{Name: "q", Dtype: p.Dtype, Shape: []int{p.Batch, p.Heads, p.Rows, p.Dim}}, {Name: "k", Dtype: p.Dtype, Shape: append(slices.Clip(kv), p.Dim)}}
	table := func(name string, shape ...int) {
		list = append(list, Operand{Name: name, Dtype: tile.Float32, Shape: append(shape, p.RopeOfKeys().Turned()/2)})
	}
	if p.Rope != TurnedNone {
		table("row_cos", p.RowTables(), p.Rows)
		table("row_sin", p.RowTables(), p.Rows)
	}
	if p.Rope == TurnedBoth {
		table("key_cos", p.Keys)
		table("key_sin", p.Keys)
	}
	if p.Bias {
		list = append(list, Operand{Name: "bias", Dtype: tile.Float32, Shape: []int{p.Batch, p.Heads, p.Rows, p.Keys}})
	}
	if p.Segments {
		list = append(list, Operand{Name: "row_segment", Dtype: tile.Int32, Shape: []int{p.Batch, p.Rows, 1}}, Operand{Name: "key_segment", Dtype: tile.Int32, Shape: []int{p.Batch, 1, p.Keys}})
	}
	list = append(list, Operand{Name: "v", Dtype: p.Dtype, Shape: append(slices.Clip(kv), p.ValueDim)})
	if p.Sinks {
		list = append(list, Operand{Name: "sinks", Dtype: tile.Float32, Shape: []int{p.Heads, 1, 1}})
	}
	return append(list, Operand{Name: "o", Dtype: p.Dtype, Shape: []int{p.Batch, p.Heads, p.Rows, p.ValueDim}, Out: true})
}

// Sides are the rows and the keys of a block.
func (p Attention) Sides() []Side {
	keys := p.Keys
	if p.PageSize > 0 {
		keys = p.PageSize
	}
	return []Side{{"bq", p.Rows, p.Dtype, 0}, {"bk", keys, p.Dtype, 0}}
}

// Bytes are those of all operands, each once; with Lengths of keys and values those alone that
// examples have.
func (p Attention) Bytes() int64 {
	all, kept := p.Batch*p.Keys, 0
	if p.PageSize > 0 {
		all = p.PageCount() * p.PageSize
	}
	for b := range p.Batch {
		_, keys := p.LengthsOf(b)
		kept += keys
	}
	key := int64(p.KVHeads) * int64(p.Dim+p.ValueDim) * int64(p.Dtype.Bits()/8)
	return BytesOf(p) - int64(all-min(all, kept))*key
}

func (p Attention) String() string {
	return fmt.Sprintf("%s %s", AttentionFamily.Short(p.Sizes()), p.Dtype)
}
