package cpu

import "matladder/backend/cpu/internal/gemm"

// Parameter is one of ParseParams as people are told of it.
type Parameter struct {
	Key    string
	Values []string // the words that it takes; nil for a number from 1 to Most
	Most   int
	Help   string
}

// Parameters lists those of ParseParams, isa first.
func Parameters() []Parameter {
	list := []Parameter{{Key: paramISA, Values: gemm.Names(), Help: "instruction set, as " + ISAVariable + " in the environment says"}}
	for _, c := range allChoices {
		list = append(list, Parameter{c.key, c.words, mostChosen, c.what})
	}
	return list
}

// BestISA is the instruction set that is used where nothing else is asked for.
func BestISA() string { return gemm.Detect().String() }
