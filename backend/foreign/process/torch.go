package process

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"matladder/backend"
	"matladder/internal/files"
	"matladder/problem"
	"matladder/tile"
)

//go:embed python/torch_peer.py
var torchScript []byte

// writeScript puts the Python program below folder, and returns its path.
func writeScript(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", noFolder(err)
	}
	sum := sha256.Sum256(torchScript)
	path := filepath.Join(folder, fmt.Sprintf("torch-%x.py", sum[:8]))
	if exists(path) {
		return path, nil
	}
	if err := files.Replace(path, torchScript); err != nil {
		return "", noFolder(err)
	}
	return path, nil
}

// torch asks PyTorch for what it has of the families that are no products: the process
// says which. It is a Python program, since that is how PyTorch is used.
type torch struct{}

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
	type array struct {
		Name, Dtype string
		Shape       []int
	}
	asked := struct {
		Family  string
		In, Out []array
		Problem problem.Problem
	}{Family: spec.Problem.Family().Name, Problem: spec.Problem}
	for _, o := range spec.Problem.Operands() {
		a := array{o.Name, o.Dtype.String(), o.Shape}
		if o.Out {
			asked.Out = append(asked.Out, a)
		} else {
			asked.In = append(asked.In, a)
		}
	}
	text, err := json.Marshal(asked)
	return "problem " + string(text), err
}

// keeps: to load PyTorch takes seconds.
func (torch) keeps() bool { return true }

func (torch) products(b *Backend) []string { return slices.Clone(b.has) }

// Program returns the path, below folder, of the program that asks the library of a name:
// for PyTorch one in Python, for the others that of Build.
func Program(ctx context.Context, folder, name string) (string, error) {
	if name == kindTorch {
		return writeScript(folder)
	}
	return Build(ctx, folder)
}
