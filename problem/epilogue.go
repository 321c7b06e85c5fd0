package problem

import (
	"fmt"
	"slices"
	"strings"
)

// Activation is what the epilogue does to each element before the last cast.
type Activation string

// The activations.
const (
	NoActivation Activation = ""
	Relu         Activation = "relu"
	Gelu         Activation = "gelu" // by the error function, not its approximation
	Silu         Activation = "silu"
)

var activations = []Activation{Relu, Gelu, Silu}

// Epilogue is a bias and an activation in one word: bias, gelu, bias+gelu; ""
// for neither.
type Epilogue string

const biasWord = "bias"

// Epilogue spells what p does to the scaled sums.
func (p Matmul) Epilogue() Epilogue {
	switch {
	case p.Bias && p.Activation != NoActivation:
		return Epilogue(biasWord + "+" + string(p.Activation))
	case p.Bias:
		return biasWord
	}
	return Epilogue(p.Activation)
}

// ParseEpilogue reads an Epilogue.
func ParseEpilogue(s string) (Epilogue, error) {
	rest, bias := strings.CutPrefix(s, biasWord)
	if bias && rest != "" {
		if rest, bias = strings.CutPrefix(rest, "+"); !bias || rest == "" {
			return "", unknownEpilogue(s)
		}
	}
	if rest != "" && !slices.Contains(activations, Activation(rest)) {
		return "", unknownEpilogue(s)
	}
	return Epilogue(s), nil
}

func unknownEpilogue(s string) error {
	return fmt.Errorf("unknown epilogue %q (known: bias, %s, %s, %s, and bias+ one of them)", s, Relu, Gelu, Silu)
}

// Apply returns p with the epilogue e.
func (e Epilogue) Apply(p Matmul) Matmul {
	rest, bias := strings.CutPrefix(string(e), biasWord)
	p.Bias, p.Activation = bias, Activation(strings.TrimPrefix(rest, "+"))
	return p
}

func (e Epilogue) validate(p Matmul) error {
	if _, err := ParseEpilogue(string(e)); err != nil {
		return err
	}
	if e != "" && e != Epilogue(Relu) && p.Acc.IsInteger() && p.Quant == NoQuant {
		return fmt.Errorf("epilogue %s needs a float: the accumulator is %s", e, p.Acc)
	}
	return nil
}
