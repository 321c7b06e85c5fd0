// Package yamldoc reads a YAML file strictly: each key of a mapping is known and given
// once, and every mistake is one line with its place in the file.
//
// A caller says what a node may be by Fields, which call one another for what lies within:
// Mapping for keys that are known, Entries for keys that are names, Items and List for
// lists, Value and Decode for one plain value.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// An Error is a mistake, at its place in the file.
type Error struct {
	File string // "" where the text did not come from a file
	Line int    // from 1; 0 if the file as a whole is at fault
	Msg  string
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Doc is a file's name, which errors begin with.
type Doc string

// Field reads the value of one key. Its errors are *Errors.
type Field func(*yaml.Node) error

// Fields are the keys that a mapping may have.
type Fields map[string]Field

// Read returns the root of a text that is one document; empty is what is said of a text
// without any.
func (d Doc) Read(text []byte, empty string) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF) || err == nil && len(root.Content) != 1:
		return nil, &Error{string(d), 0, empty}
	case err != nil:
		line, words := cut(err.Error(), text)
		return nil, &Error{string(d), line, "not YAML: " + words}
	}
	if err := dec.Decode(&second); err == nil {
		return nil, d.Errorf(&second, "a second document: want one")
	} else if !errors.Is(err, io.EOF) {
		line, words := cut(err.Error(), text)
		return nil, &Error{string(d), line, "not YAML: " + words}
	}
	return resolve(root.Content[0]), nil
}

// Errorf returns what is wrong with n.
func (d Doc) Errorf(n *yaml.Node, format string, args ...any) error {
	return &Error{string(d), max(n.Line, 1), fmt.Sprintf(format, args...)}
}

// Mapping reads the keys of n, which is what: each at most once, required ones at least once.
func (d Doc) Mapping(n *yaml.Node, what string, keys Fields, required ...string) error {
	seen := map[string]bool{}
	err := d.entries(n, what, func(key *yaml.Node) error {
		if seen[key.Value] = true; keys[key.Value] == nil {
			return d.Errorf(key, "unknown key %q of %s (known: %s)", key.Value, what, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		}
		return nil
	}, func(key, value *yaml.Node) error { return keys[key.Value](value) })
	if err != nil {
		return err
	}
	for _, key := range required {
		if !seen[key] {
			return d.Errorf(n, "%s needs the key %s", what, key)
		}
	}
	return nil
}

// Entries reads the keys of n, which is what, with their values: names that the file gives,
// each once. Errors of read begin with the key.
func (d Doc) Entries(n *yaml.Node, what string, read func(key, value *yaml.Node) error) error {
	return d.entries(n, what, func(*yaml.Node) error { return nil }, read)
}

func (d Doc) entries(n *yaml.Node, what string, known func(key *yaml.Node) error, read func(key, value *yaml.Node) error) error {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return d.Errorf(n, "want %s, written as key: value", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return d.Errorf(key, "a key of %s is one plain word", what)
		case seen[key.Value]:
			return d.Errorf(key, "key %s is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := known(key); err != nil {
			return err
		}
		if err := read(key, resolve(n.Content[i+1])); err != nil {
			if at, ok := errors.AsType[*Error](err); ok {
				at.Msg = key.Value + ": " + at.Msg
			}
			return err
		}
	}
	return nil
}

// Get returns the value of one key of n: nil where n is no mapping or has no such key.
func Get(n *yaml.Node, key string) *yaml.Node {
	n = resolve(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return resolve(n.Content[i+1])
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

// Items calls read for each item of a list, which is empty where nothing is written.
func (d Doc) Items(n *yaml.Node, read Field) error {
	if n.Kind != yaml.SequenceNode && n.Tag != "!!null" {
		return d.Errorf(n, "want a list")
	}
	for _, item := range n.Content {
		if err := read(resolve(item)); err != nil {
			return err
		}
	}
	return nil
}

// OneOrItems calls read for each item of a list of at least one, or for n if it is no list.
func (d Doc) OneOrItems(n *yaml.Node, read Field) error {
	switch {
	case n.Kind != yaml.SequenceNode:
		return read(n)
	case len(n.Content) == 0:
		return d.Errorf(n, "empty list")
	}
	return d.Items(n, read)
}

// Scalar reads one plain value by parse.
func Scalar[T any](d Doc, parse func(string) (T, error)) func(*yaml.Node) (T, error) {
	return func(n *yaml.Node) (T, error) {
		if n.Kind != yaml.ScalarNode {
			var zero T
			return zero, d.Errorf(n, "want one plain value")
		}
		v, err := parse(n.Value)
		if err != nil {
			return v, d.Errorf(n, "%v", err)
		}
		return v, nil
	}
}

// Value is a field of one plain value.
func Value[T any](d Doc, v *T, parse func(string) (T, error)) Field {
	return func(n *yaml.Node) (err error) { *v, err = Scalar(d, parse)(n); return err }
}

// Text is Value for a string that must not be empty, nor fail a check.
func (d Doc) Text(v *string, checks ...func(string) error) Field {
	return Value(d, v, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("empty")
		}
		for _, check := range checks {
			if err := check(s); err != nil {
				return "", err
			}
		}
		return s, nil
	})
}

// List is a field of one item or a list of different ones.
func List[T comparable](d Doc, v *[]T, item func(*yaml.Node) (T, error)) Field {
	return func(n *yaml.Node) error {
		*v = nil
		seen := map[T]bool{}
		return d.OneOrItems(n, func(n *yaml.Node) error {
			x, err := item(n)
			switch {
			case err != nil:
				return err
			case seen[x]:
				return d.Errorf(n, "%s is listed twice", n.Value)
			}
			seen[x] = true
			*v = append(*v, x)
			return nil
		})
	}
}

// Decode is a field of what the YAML package reads into v, such as a number or a list of
// numbers; want says what that is.
func (d Doc) Decode(v any, want string) Field {
	return func(n *yaml.Node) error {
		switch err := n.Decode(v); {
		case err == nil:
			return nil
		case n.Kind == yaml.ScalarNode:
			return d.Errorf(n, "%q: want %s", n.Value, want)
		}
		return d.Errorf(n, "want %s", want)
	}
}

var (
	form = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

	// placed are the complaints of gopkg.in/yaml.v3 about a place, which name no line if
	// it is the first. Those that are early count it from 0: those of its parser. Its
	// scanner's and those about values are counted from 1.
	placed = regexp.MustCompile(`^(found|did not find) `)
	early  = regexp.MustCompile(`^(did not find expected (',' or '[\]}]'|'-' indicator|key|node content|<)|found (duplicate %|incompatible YAML|undefined tag))`)
)

// cut cuts a complaint about a text into the line, from 1, and what it says, without
// line breaks. The line is 0 where it is not known. It is that where the part of the
// text begins that is wrong, or where that was found.
func cut(complaint string, text []byte) (line int, words string) {
	newline := []byte("\n")
	m := form.FindStringSubmatch(complaint)
	words = strings.ReplaceAll(complaint[len(m[0]):], "\n", " ")
	line, _ = strconv.Atoi(m[1])
	switch {
	case strings.Contains(words, "UTF-8"):
		line = 1 + bytes.Count(text[:max(0, bytes.IndexRune(text, utf8.RuneError))], newline)
	case early.MatchString(words):
		line++
		fallthrough
	case placed.MatchString(words): // what is missing is missed behind the last line
		line = min(max(1, line), 1+bytes.Count(bytes.TrimRight(text, "\n"), newline))
	}
	return line, words
}
