package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/files"

	"github.com/spf13/pflag"
)

// Annotations of flags: the heading in the help, and the words that a shell may offer.
const (
	heading = "heading"
	offered = "offered"
)

// helpWidth is how many columns the help takes, go doc's margin left out.
const helpWidth = 100

// Group puts the flags that were defined since the last call under a heading of the help.
func Group(f *pflag.FlagSet, title string) {
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[heading] == nil {
			f.SetAnnotation(flag.Name, heading, []string{title})
		}
	})
}

// Known puts the words that a flag takes behind its help, and has shells offer them.
func Known[T ~string](f *pflag.FlagSet, name string, words []T) {
	Offer(f, name, words)
	flag := f.Lookup(name)
	flag.Usage += " (" + strings.Join(flag.Annotations[offered], ", ") + ")"
}

// Offer has shells offer words for a flag.
func Offer[T ~string](f *pflag.FlagSet, name string, words []T) {
	list := each.Of(words, func(w T) string { return string(w) })
	f.SetAnnotation(name, offered, list)
}

// helpError is pflag.ErrHelp with the help.
type helpError struct{ text string }

func (*helpError) Error() string { return pflag.ErrHelp.Error() }
func (*helpError) Unwrap() error { return pflag.ErrHelp }

// help is the manual of a command: what it says itself, the flags, and what holds of all.
func help(f *pflag.FlagSet, manual string) string {
	var titles []string
	groups := map[string]*pflag.FlagSet{}
	f.VisitAll(func(flag *pflag.Flag) {
		title := "OPTIONS"
		if given := flag.Annotations[heading]; given != nil {
			title = given[0]
		}
		if !slices.Contains(titles, title) {
			titles, groups[title] = append(titles, title), NewFlags("")
		}
		groups[title].AddFlag(flag)
	})
	text := strings.TrimSpace(manual) + "\n"
	for _, title := range titles {
		text += "\n" + title + "\n"
		for line := range strings.Lines(groups[title].FlagUsagesWrapped(helpWidth + 4)) {
			text += strings.TrimPrefix(line, "    ") // where shorthands would be
		}
	}
	return text + `
EXIT STATUS
  0    all went well
  1    something failed
  2    a mistake in the command line, or in a file that it names
  130  interrupted

  ` + reference + ` says more.
`
}

// reference is the page that has what does not fit a help.
const reference = "docs/commands.md"

// listing has a line for each flag, for programs: its name, what it takes ("" for a switch),
// and the words that are offered for it.
func listing(f *pflag.FlagSet) string {
	var b strings.Builder
	f.VisitAll(func(flag *pflag.Flag) {
		kind := flag.Value.Type()
		if kind == "bool" {
			kind = ""
		}
		if !flag.Hidden {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", flag.Name, kind, strings.Join(flag.Annotations[offered], " "))
		}
	})
	return b.String()
}

// ListFlags is the argument, known to nobody but this program, that has a command list its
// flags and do nothing.
const ListFlags = "--list-flags-for-completion"

// Marks are the lines of their own around what a command writes into a page.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ":begin -->", "<!-- " + name + ":end -->"
}

// Fill returns the page that a flag names with content in place of what stands between the
// marks of a name.
func Fill(flag, path, name string, content []byte) ([]byte, error) {
	page, err := files.Read(path)
	if err != nil {
		return nil, Input(flag, err)
	}
	whole, err := between(page, content, name)
	if err != nil {
		return nil, Input(flag, fmt.Errorf("%s: %w", path, err))
	}
	return whole, nil
}

// between returns a page with content in place of what stands between the marks of a
// name, its lines ended as those of the page. Each mark must stand there once.
func between(page, content []byte, name string) ([]byte, error) {
	beginMark, endMark := Marks(name)
	for _, mark := range []string{beginMark, endMark} {
		if n := bytes.Count(page, []byte(mark)); n != 1 {
			return nil, fmt.Errorf("the mark %s stands in it %d times, it must once", mark, n)
		}
	}
	begin := bytes.Index(page, []byte(beginMark)) + len(beginMark)
	end := bytes.Index(page, []byte(endMark))
	if end < begin {
		return nil, fmt.Errorf("%s stands before %s", endMark, beginMark)
	}
	newline := "\n"
	if bytes.Contains(page[:begin], []byte("\r\n")) {
		newline = "\r\n"
		content = bytes.ReplaceAll(content, []byte("\n"), []byte(newline))
	}
	return slices.Concat(page[:begin], []byte(newline+newline), content, []byte(newline), page[end:]), nil
}
