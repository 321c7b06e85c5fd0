package stablehlo

import (
	"regexp"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/problem"
	"matladder/tile"
)

// Solution returns a launch of a StableHLO program that somebody else wrote, as text or bytecode,
// whose @main takes the inputs of a problem, in the order of its operands, and returns its outputs.
// Text becomes part of the modules of Loop and the like; what cannot is run as it is, by Once alone
// (Whole). An error is an *UnsupportedError: of bytecode the compiler alone knows the signature.
func Solution(program string, p problem.Problem) (*Launch, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l := &Launch{Name: "program"}
	err := l.take(p)
	if s, ok := ReadSignature(program); ok && err == nil {
		err = s.Fits(l)
	}
	if err != nil {
		return nil, err
	}
	at := mainFunction.FindStringSubmatchIndex(program)
	if at == nil || strings.Contains(program, "@launch") || strings.Count(program, "@main") != 1 {
		l.whole = program
		return l, nil
	}
	first := strings.Index(program, "func.func ")
	l.head = program[:first]
	l.text = program[first:at[0]] + "func.func private @launch" + program[at[1]-1:]
	return l, nil
}

// Whole reports whether a program runs as it is, by Once alone.
func (l *Launch) Whole() bool { return l.whole != "" }

var mainFunction = regexp.MustCompile(`func\.func (?:public )?@main\(`)

// A Signature is what a program takes and returns, spelled as in MLIR: tensor<4x8xbf16>.
type Signature struct{ In, Out []string }

// ReadSignature returns the signature of @main in a program's text, false if it is not found there.
func ReadSignature(program string) (s Signature, ok bool) {
	at := mainFunction.FindStringIndex(program)
	if at == nil {
		return s, false
	}
	rest := program[at[1]-1:]
	if s.In, rest, ok = parts(rest); !ok {
		return s, false
	}
	for i, a := range s.In {
		if _, s.In[i], ok = strings.Cut(a, ":"); !ok {
			return s, false
		}
	}
	rest, results := strings.CutPrefix(strings.TrimSpace(rest), "->")
	if rest = strings.TrimSpace(rest); results && strings.HasPrefix(rest, "(") {
		s.Out, _, ok = parts(rest)
	} else if results {
		s.Out = []string{rest}
	}
	for _, types := range [][]string{s.In, s.Out} {
		for i, t := range types {
			end := strings.IndexByte(t, '>') // of what has attributes behind its type
			if end < 0 {
				return s, false
			}
			types[i], _, _ = strings.Cut(strings.TrimSpace(t[:end+1]), ", ") // without an encoding
			types[i] = strings.TrimSuffix(types[i], ">") + ">"
		}
	}
	return s, ok
}

// parts splits what stands between parentheses at commas, and returns what stands behind them.
func parts(text string) (all []string, rest string, ok bool) {
	depth, begin, quoted := 0, 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case c == ',' && depth == 1:
			all, begin = append(all, text[begin:i]), i+1
		case c == '>' && text[i-1] == '-':
		case strings.IndexByte(")]}>", c) >= 0:
			if depth--; depth == 0 {
				if last := text[begin:i]; strings.TrimSpace(last) != "" {
					all = append(all, last)
				}
				return all, text[i+1:], true
			}
		}
	}
	return nil, "", false
}

// Solves is Fits for the launch of a problem.
func (s Signature) Solves(p problem.Problem) error {
	l := &Launch{}
	if err := l.take(p); err != nil {
		return err
	}
	return s.Fits(l)
}

// Fits is nil, or the *UnsupportedError that a program does not take and return what a launch
// does: its shapes are part of it.
func (s Signature) Fits(l *Launch) error {
	for _, side := range []struct {
		what, have string
		arrays     []problem.Operand
	}{{"takes", strings.Join(s.In, ", "), l.In}, {"returns", strings.Join(s.Out, ", "), l.Out}} {
		if want := mlir.Tensors(storedTypes(side.arrays)); side.have != want {
			return unsupported(tile.Pos{}, "@main", side.what+" ("+side.have+")", "", "the problem has ("+want+"), and shapes are part of a program")
		}
	}
	return nil
}
