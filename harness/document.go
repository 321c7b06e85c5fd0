package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// document walks a YAML tree, so that each error has its line and names the keys
// that are known.
type document struct{ name string }

// field reads the value of one key.
type field func(*yaml.Node) error

// fields are the keys that a mapping may have.
type fields map[string]field

func (d document) errorf(n *yaml.Node, format string, args ...any) error {
	return &ConfigError{d.name, n.Line, fmt.Sprintf(format, args...)}
}

// mapping reads the keys of n, which is what: each at most once, required ones
// at least once.
func (d document) mapping(n *yaml.Node, what string, keys fields, required ...string) error {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return d.errorf(n, "want %s, written as key: value", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read := keys[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || read == nil:
			return d.errorf(key, "unknown key %q of %s (known: %s)", key.Value, what, known(keys))
		case seen[key.Value]:
			return d.errorf(key, "key %s is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(resolve(n.Content[i+1])); err != nil {
			var at *ConfigError
			if errors.As(err, &at) {
				at.Msg = key.Value + ": " + at.Msg
			}
			return err
		}
	}
	for _, key := range required {
		if !seen[key] {
			return d.errorf(n, "%s needs the key %s", what, key)
		}
	}
	return nil
}

func known(keys fields) string {
	var names []string
	for k := range keys {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// valueOf is the value of the first of keys that a mapping has; nil if it has none.
func valueOf(n *yaml.Node, keys ...string) *yaml.Node {
	if n = resolve(n); n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if slices.Contains(keys, n.Content[i].Value) {
				return resolve(n.Content[i+1])
			}
		}
	}
	return nil
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// text is value for a string that must not be empty.
func (d document) text(v *string, parse func(string) (string, error)) field {
	return value(d, v, func(s string) (string, error) {
		if s == "" {
			return "", fmt.Errorf("empty")
		}
		return parse(s)
	})
}

// scalar reads one plain value.
func scalar[T any](d document, parse func(string) (T, error)) func(*yaml.Node) (T, error) {
	return func(n *yaml.Node) (T, error) {
		if n.Kind != yaml.ScalarNode {
			var zero T
			return zero, d.errorf(n, "want one plain value")
		}
		v, err := parse(n.Value)
		if err != nil {
			return v, d.errorf(n, "%v", err)
		}
		return v, nil
	}
}

// value is a field of one plain value.
func value[T any](d document, v *T, parse func(string) (T, error)) field {
	return func(n *yaml.Node) (err error) { *v, err = scalar(d, parse)(n); return err }
}

// items are those of a list, or n alone.
func items(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// list is a field of one item or a list of different ones.
func list[T comparable](d document, v *[]T, item func(*yaml.Node) (T, error)) field {
	return func(n *yaml.Node) error {
		*v = nil
		seen := map[T]bool{}
		for _, node := range items(n) {
			x, err := item(resolve(node))
			if err != nil {
				return err
			}
			if seen[x] {
				return d.errorf(node, "%s is listed twice", node.Value)
			}
			seen[x] = true
			*v = append(*v, x)
		}
		if len(*v) == 0 {
			return d.errorf(n, "empty list")
		}
		return nil
	}
}
