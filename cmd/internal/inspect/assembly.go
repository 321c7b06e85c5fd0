package inspect

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/internal/each"
)

// assembly writes the loop in which each product of the programs spends its time: as Go's
// assembler reads it, or with the pressure on each port of the processor by llvm-mca, where
// that is installed.
func (o *options) assembly(ctx context.Context, w io.Writer) error {
	routines, err := o.open.Backend.(backend.Assembler).Assembly(ctx, o.programs, o.open.Params)
	if err != nil {
		return err
	}
	tools := findTools()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", o.title())
	if len(routines) == 0 {
		b.WriteString("\nno product: no micro-kernel\n")
	}
	shown := map[string]bool{}
	plain := false
	for _, r := range routines {
		fmt.Fprintf(&b, "\n%s\n", r.Product)
		switch {
		case r.Name == "":
			b.WriteString("  loops in Go, or routines that widen b as they read it, which are not shown\n")
			continue
		case shown[r.Name]:
			fmt.Fprintf(&b, "  %s, as above\n", r.Name)
			continue
		}
		shown[r.Name] = true
		fmt.Fprintf(&b, "  %s in %s\n", r.Name, r.File)
		if tools != nil && len(r.Code) > 0 {
			if err := tools.annotate(ctx, &b, r, o.mcpu); err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			continue
		}
		plain = true
		lines := hotText(r.Text)
		fmt.Fprintf(&b, "  the loop that multiplies, %d instructions of %d, as Go's assembler reads it:\n\n%s", instructions(lines), instructions(strings.Split(r.Text, "\n")), strings.Join(lines, "\n")+"\n")
	}
	if plain {
		fmt.Fprintf(&b, "\nfor the pressure on each port, install LLVM's tools, llvm-mc and llvm-mca: %s\n", installLLVM())
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func installLLVM() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install llvm, and its bin folder in PATH"
	case "windows":
		return "winget install LLVM.LLVM"
	}
	return "apt-get install llvm, or dnf install llvm"
}

// A loop is a part of a list that ends with a jump to its beginning.
type loop struct{ from, to int } // the last is in it

// hottest is, of loops in a list that have none inside, that with the most multiplications;
// the shorter of equal ones; all of the list if there is none.
func hottest[T any](list []T, loops []loop, mnemonic func(T) string) []T {
	var best []T
	for _, l := range loops {
		if slices.ContainsFunc(loops, func(in loop) bool { return in != l && l.from <= in.from && in.to <= l.to }) {
			continue
		}
		part := list[l.from : l.to+1]
		if n, m := products(part, mnemonic), products(best, mnemonic); best == nil || n > m || n == m && len(part) < len(best) {
			best = part
		}
	}
	if best == nil {
		best = list
	}
	return best
}

// products counts the multiplications.
func products[T any](list []T, mnemonic func(T) string) int {
	return len(each.That(list, func(x T) bool { return multiplies(mnemonic(x)) }))
}

// multiplies reports whether a mnemonic of any assembler multiplies and adds.
func multiplies(mnemonic string) bool {
	m := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(mnemonic), "{vex}"))
	return slices.ContainsFunc([]string{"vfmadd", "vdpbf16", "vpdp", "vpmadd", "tdp", "vfmla", "fmla", "bfdot", "sdot", "udot", "wsdot"}, func(p string) bool { return strings.HasPrefix(m, p) })
}

// mnemonicOf is the instruction of a line of Go's assembly; "" of a label, a comment and
// a directive. One that is written as bytes has its name in a comment.
func mnemonicOf(line string) string {
	code, comment, _ := strings.Cut(strings.TrimSpace(line), "//")
	words := strings.Fields(code)
	if len(words) == 0 || strings.HasSuffix(words[0], ":") || words[0] == "TEXT" || words[0] == "PCALIGN" {
		return ""
	}
	if note := strings.Fields(comment); (words[0] == "BYTE" || words[0] == "WORD") && len(note) > 0 {
		return note[0]
	}
	return words[0]
}

func instructions(lines []string) int {
	return len(each.That(lines, func(line string) bool { return mnemonicOf(line) != "" }))
}

// hotText is the loop of a routine's text that multiplies; all of it if there is none.
func hotText(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	labels := map[string]int{}
	var loops []loop
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) == 1 && strings.HasSuffix(words[0], ":") {
			labels[strings.TrimSuffix(words[0], ":")] = i
		}
		if len(words) < 2 || words[0][0] != 'J' && words[0][0] != 'B' && !strings.HasPrefix(words[0], "CB") {
			continue
		}
		if at, ok := labels[words[len(words)-1]]; ok { // that is behind it is not known yet
			loops = append(loops, loop{at, i})
		}
	}
	return hottest(lines, loops, mnemonicOf)
}
