package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"

	"github.com/spf13/pflag"
)

// NewFlags returns a set of flags for a command, in the order of their definition, that prints
// nothing by itself. What all commands call the same has one name, and its older ones.
func NewFlags(command string) *pflag.FlagSet {
	f := pflag.NewFlagSet(command, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.SortFlags = false
	Alias(f, "chip", "topology", "output", "out")
	return f
}

// Parse reads the flags of a command, whose help begins with its manual. An error is
// pflag.ErrHelp with the help, which End tells, or a *UsageError that names the flag, says
// what it takes and where the flags are listed. A flag with an empty value is a mistake: an
// unset variable in a script, most likely.
func Parse(f *pflag.FlagSet, args []string, manual string) error {
	if slices.Equal(args, []string{ListFlags}) {
		return &helpError{listing(f)}
	}
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return &helpError{help(f, manual)}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("--%s: %q %s", invalid.GetFlag().Name, invalid.GetValue(), unlike(invalid))
	}
	if err == nil {
		f.Visit(func(flag *pflag.Flag) {
			if what := empty(flag.Value); err == nil && what != "" {
				err = fmt.Errorf("--%s %s", flag.Name, what)
			}
		})
	}
	if err != nil {
		return Misuse(f, "%w", err)
	}
	return nil
}

// Listed refuses what a flag was given and is not one of the things that it knows.
func Listed(flag, thing string, given, known []string) error {
	for _, name := range given {
		if !slices.Contains(known, name) {
			return Usagef("--%s: unknown %s %q (known: %s)", flag, thing, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Alias has flags answer to older names too, which no help shows: pairs of an old name and
// the one that it means.
func Alias(f *pflag.FlagSet, pairs ...string) {
	names, before := map[string]string{}, f.GetNormalizeFunc()
	for pair := range slices.Chunk(pairs, 2) {
		names[pair[0]] = pair[1]
	}
	f.SetNormalizeFunc(func(f *pflag.FlagSet, name string) pflag.NormalizedName {
		return before(f, cmp.Or(names[name], name))
	})
}

// Takes refuses flags that were given and are not of those that a verb of the command takes.
func Takes(f *pflag.FlagSet, verb string, flags []string) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(flags, flag.Name) {
			err = Usagef("%s takes no --%s", verb, flag.Name)
		}
	})
	return err
}

// Misuse is Usagef with a word of where the flags of the command are listed.
func Misuse(f *pflag.FlagSet, format string, args ...any) error {
	return Usagef("%w (%s --help lists the flags)", fmt.Errorf(format, args...), f.Name())
}

// unlike says in what a value is not one of the flag's type.
func unlike(e *pflag.InvalidValueError) string {
	switch kind := e.GetFlag().Value.Type(); kind {
	case "int", "int64":
		if errors.Is(e, strconv.ErrRange) {
			return "is out of the range of whole numbers"
		}
		return "is not a whole number"
	case "float64":
		return "is not a number"
	case "bool":
		return "is neither true nor false"
	case "duration":
		return "is not a time with its unit, such as 90s or 5m"
	case "stringSlice":
		return "is not a list joined by commas"
	default:
		return "is not of type " + kind
	}
}

// empty says that a flag was given no text, or a list without text somewhere; "" if it was not.
func empty(v pflag.Value) string {
	list, ok := v.(pflag.SliceValue)
	switch {
	case ok && len(list.GetSlice()) > 1 && slices.Contains(list.GetSlice(), ""):
		return "has an empty item"
	case ok && (len(list.GetSlice()) == 0 || list.GetSlice()[0] == ""), v.Type() == "string" && v.String() == "":
		return "is empty"
	}
	return ""
}

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
	text := strings.TrimSpace(strings.ReplaceAll(manual, "\r\n", "\n")) + "\n" // a checkout may have other ends of lines
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
