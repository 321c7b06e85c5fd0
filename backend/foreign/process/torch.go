package process

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"
)

//go:embed python/torch_families.py
var torchFamilies []byte

// torch asks PyTorch for what it has of the families that are no products, by a Python file
// that has a function of each.
type torch struct{}

func (torch) hello(*Backend) (string, [][]byte) {
	return "hello * torch_families.py", [][]byte{torchFamilies}
}

func (torch) supports(b *Backend, asked problem.Problem) error {
	family := asked.Family()
	if !slices.Contains(b.has, family.Name) {
		return fmt.Errorf("%s is not asked for a %s", b.Name(), family.Name)
	}
	switch p := asked.(type) {
	case problem.Attention:
		return attentionOfTorch(p)
	case problem.Norm:
		if p.Offset || p.Residual || p.Out != p.X {
			return errors.New("layer_norm and rms_norm have neither weights that are 1 + w, nor a residual, nor an output of another dtype")
		}
	case problem.MLP:
		if p.Scaled() {
			return fmt.Errorf("a product of x of %s with weights of %s is none of PyTorch's", p.X, p.W)
		}
	}
	return nil
}

func attentionOfTorch(p problem.Attention) error {
	switch {
	case p.SoftCap > 0 || p.Sinks:
		return errors.New("scaled_dot_product_attention has neither soft cap nor sinks")
	case p.Bias && p.Dtype != tile.Float32:
		return fmt.Errorf("scaled_dot_product_attention wants a bias of %s", p.Dtype)
	case p.Lengths || p.PageSize > 0 || p.LogSums || p.Rope != problem.TurnedNone:
		return errors.New("scaled_dot_product_attention has neither lengths, pages, log-sums nor rope")
	}
	return nil
}

func (torch) variants(*Backend, problem.Problem) []string { return []string{""} }

func (torch) request(_ *Backend, spec backend.ProblemSpec) (string, error) {
	return problemRequest(spec.Problem.Family().Name, spec.Problem)
}

// keeps: to load PyTorch takes seconds.
func (torch) keeps() bool { return true }

func (torch) products(b *Backend) []string { return slices.Clone(b.has) }
