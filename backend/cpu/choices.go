package cpu

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/each"
	"matladder/model/anatomy"
	"matladder/tile"
)

// Parameters of a compilation, as keys of backend.Params.Extra, that make choices.
const (
	paramA      = "a"
	paramB      = "b"
	paramC      = "c"
	paramRun    = "k_run"
	paramPieceA = "a_kib"
)

// paramISA is the key of what is Params.ISA.
const paramISA = "isa"

// Parameter is one of ParseParams.
type Parameter struct {
	Key, Help string
	Values    []string // the words that it takes; nil for a number from 1 to MostChosen

	set func(c *plan.Choices, word, number int) // nil of the instruction set
}

// MostChosen bounds numbers.
const MostChosen = 1 << 20

// Words of paramA, in the order of plan.ReadAPacked and those behind it, of paramB, those of
// strategies, and of paramC, in the order of plan.WriteCached.
var (
	waysOfA = []string{"packed", "rows"}
	waysOfB = each.Of(plan.Strategies, func(s plan.Strategy) string { return s.Word })
	waysOfC = []string{"cached", "copied", "past"}
)

// choicesOfStep are what the steps of package anatomy choose, in their order: those without packing have
// a way of gemm.Strided each.
var choicesOfStep = func() (list [anatomy.Threads + 1]plan.Choices) {
	for i := range anatomy.Packing {
		list[i] = plan.Choices{Choices: gemm.Choices{B: gemm.ReadLoops + gemm.ReadB(i)}, ReadA: plan.ReadARows, Whole: true, Alone: true}
	}
	list[anatomy.Packing] = plan.Choices{Choices: gemm.Choices{B: gemm.ReadPacked, Run: MostChosen, PieceA: 1}, ReadA: plan.ReadAPacked, Whole: true, Alone: true}
	list[anatomy.Blocking].Alone = true
	return list
}()

// Parameters are those of ParseParams, isa first.
var Parameters = []Parameter{
	{paramISA, "instruction set, as " + ISAVariable + " in the environment says", gemm.Names(), nil},
	{paramA, "how rows of a are read", waysOfA, func(c *plan.Choices, word, _ int) { c.ReadA = plan.ReadAPacked + plan.ReadA(word) }},
	{paramB, "how b is read", waysOfB, func(c *plan.Choices, word, _ int) { c.B = plan.Strategies[word].Read }},
	{paramC, "how AMX tiles write an output", waysOfC, func(c *plan.Choices, word, _ int) { c.WriteC = plan.WriteCached + plan.WriteC(word) }},
	{paramRun, "elements of k that a register tile runs over", nil, func(c *plan.Choices, _, n int) { c.Run = n }},
	{paramPieceA, "KiB of a that stay in L2", nil, func(c *plan.Choices, _, n int) { c.PieceA = n << 10 }},
	{anatomy.Param, "steps of docs/anatomy.md up to this one", each.Of(anatomy.Steps, func(s anatomy.Step) string { return s.Word }), func(c *plan.Choices, word, _ int) { *c = choicesOfStep[word] }},
}

// A choiceError is a parameter that is none, and backend.ErrUnsupported.
type choiceError struct{ key, value, want string }

func (e *choiceError) Error() string { return fmt.Sprintf("%s=%s: %s", e.key, e.value, e.want) }

func (*choiceError) Unwrap() error { return backend.ErrUnsupported }

// parseChoices reads Extra of parameters. What it does not know is a *choiceError.
func parseChoices(extra map[string]string) (c plan.Choices, err error) {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		i := slices.IndexFunc(Parameters, func(p Parameter) bool { return p.Key == key && p.set != nil })
		if i < 0 {
			names := each.Of(Parameters, func(p Parameter) string { return p.Key })
			return c, &choiceError{key, extra[key], "backend cpu has no such parameter (known: " + strings.Join(names, ", ") + ")"}
		}
		k, word, number, want := Parameters[i], 0, 0, ""
		if k.Values != nil {
			if word = slices.Index(k.Values, extra[key]); word < 0 {
				want = strings.Join(k.Values, ", ")
			}
		} else if number, err = strconv.Atoi(extra[key]); err != nil || number < 1 || number > MostChosen {
			want = fmt.Sprintf("a number from 1 to %d", MostChosen)
		}
		if key == anatomy.Param && len(extra) > 1 {
			want = "no other choice beside it"
		}
		if want != "" {
			return c, &choiceError{key, extra[key], k.Help + ": want " + want}
		}
		k.set(&c, word, number)
	}
	return c, nil
}

// ParseParams reads parameters of a compilation as people give them: the keys and words of
// Parameters, of which plan.Strategies says what those of b mean. All but isa are keys of Extra.
// What a kernel's products cannot do is left to the rules that hold without. Whether the
// instruction set is there Compile tells.
func ParseParams(pairs map[string]string) (backend.Params, error) {
	p := backend.Params{ISA: pairs[paramISA]}
	for key, value := range pairs {
		if key == paramISA {
			continue
		}
		if p.Extra == nil {
			p.Extra = map[string]string{}
		}
		p.Extra[key] = value
	}
	_, err := parseChoices(p.Extra)
	return p, err
}

// BestISA is the instruction set that is used where nothing else is asked for.
func BestISA() string { return gemm.Detect().String() }

var _ backend.Adjuster = (*Backend)(nil)

// Adjustments lists choices that make another plan of the programs. Those that would
// read b over and over for many rows of a are left out.
func (b *Backend) Adjustments(ctx context.Context, programs []*tile.Program, params backend.Params) ([]backend.Params, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{made(e): true}
	var list []backend.Params
	for _, o := range others(e) {
		with := params
		with.Extra = maps.Clone(params.Extra)
		if with.Extra == nil {
			with.Extra = map[string]string{}
		}
		with.Extra[o.key] = o.value
		x, err := b.compile(ctx, programs, with)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		if made := made(x); !seen[made] {
			seen[made] = true
			list = append(list, with)
		}
	}
	return list, nil
}

type keyValue struct{ key, value string }

// others are choices that may make another plan than this.
func others(e *exec.Executable) []keyValue {
	var list []keyValue
	add := func(key, value string) {
		if o := (keyValue{key, value}); !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	for _, p := range e.Plans {
		p.EachDot(func(s plan.ShownStep, d *plan.Dot) {
			a, b, c := p.Operands[d.A], p.Operands[d.B], p.CallOf(s.Step, d)
			for _, s := range plan.Strategies {
				if tile.Ceil(b.Meets, b.K) <= s.Most {
					add(paramB, s.Word)
				}
			}
			for _, way := range waysOfA {
				add(paramA, way)
			}
			if a.Packing.Words > 1 {
				for _, way := range waysOfC {
					add(paramC, way)
				}
			}
			for _, run := range []int{tile.Ceil(c.Run, 2), 2 * c.Run} {
				if run >= minRun && run <= a.Depth {
					add(paramRun, strconv.Itoa(run))
				}
			}
			kib := func(rows int) int { return rows * c.Run * a.Packing.Words * 4 / a.Packing.Unit >> 10 }
			switch piece, all := kib(c.MC), kib(c.Rows); {
			case c.MC > a.Packing.Lanes && piece > 1:
				add(paramPieceA, strconv.Itoa(piece/2))
				add(paramPieceA, strconv.Itoa(2*piece))
			case c.Rows > a.Packing.Lanes && all > 0: // b stays in L2, and a may instead
				add(paramPieceA, strconv.Itoa(all))
			}
		})
	}
	return list
}

// minRun is the shortest run over k that is worth a look.
const minRun = 64

// made tells what choices have made of the programs: equal texts, the same code.
func made(e *exec.Executable) string {
	var s strings.Builder
	for _, p := range e.Plans {
		p.EachDot(func(st plan.ShownStep, d *plan.Dot) {
			c := p.CallOf(st.Step, d)
			fmt.Fprintln(&s, d.Product.Name, d.A, d.B, d.K0, d.K1, d.Scales != nil, d.Write, c.Depth, c.Read, c.Run, c.MC, c.NC)
		})
		for _, o := range p.Operands {
			fmt.Fprintln(&s, o.Keep, o.Packing.Format, o.Packing.Lanes, o.Depth, o.Piece, o.Slots, o.Packing.InPlace)
		}
	}
	return s.String()
}

// obeys refuses a plan that takes another way than passes asks for: one of other operands than
// float32 in rows of memory, or too large to be packed whole.
func obeys(p *plan.Plan, step string) (err error) {
	if !p.Machine.Choices.Whole {
		return nil
	}
	want := p.Machine.Choices.B
	p.EachDot(func(s plan.ShownStep, d *plan.Dot) {
		a, b := p.Operands[d.A].Keep, p.Operands[d.B].Keep
		unpacked := a == plan.KeepUnpacked && b == plan.KeepUnpacked
		if a == plan.KeepPiece || b == plan.KeepPiece || unpacked != want.Strided() || unpacked && p.CallOf(s.Step, d).Read != want {
			err = p.Unsupported(s.Stmt.Pos, "passes=%s: want float32 in whole arrays, and an instruction set with that step", step)
		}
	})
	return err
}
