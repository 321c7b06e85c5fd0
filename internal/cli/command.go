package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Command is how to call a command of this module as this process was: by the path of
// its program, with its name where that has all commands, or by go run if the program was
// built by that or a test and will be gone.
func Command(name string, args ...string) string {
	program := os.Args[0]
	if regexp.MustCompile(`[/\\\\]go-build\d*[/\\\\]`).MatchString(program) || strings.HasSuffix(strings.TrimSuffix(filepath.Base(program), ".exe"), ".test") {
		program = "go run ./cmd/" + name
	} else {
		program = quote(program)
		if len(os.Args) > 1 && os.Args[1] == name {
			program += " " + name
		}
	}
	for _, a := range args {
		program += " " + quote(a)
	}
	return program
}

// plainWord is what every shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,=+@%-]+$`)

// quote writes a word for a shell.
func quote(word string) string {
	if plainWord.MatchString(word) || filepath.Separator == '\\' && !strings.ContainsAny(word, " \"") {
		return word
	}
	if filepath.Separator == '\\' {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
