package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestParse: each mistake is a usage error in words of ours.
func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"--threads x":                    `--threads: "x" is not a whole number`,
		"--threads 1.5":                  `--threads: "1.5" is not a whole number`,
		"--seed 99999999999999999999":    `--seed: "99999999999999999999" is out of the range of whole numbers`,
		"--seed=":                        `--seed: "" is not a whole number`,
		"--share much":                   `--share: "much" is not a number`,
		"--budget 5":                     `--budget: "5" is not a time with its unit, such as 90s or 5m`,
		"--budget soon":                  `--budget: "soon" is not a time with its unit, such as 90s or 5m`,
		"--budget 9999999h":              `--budget: "9999999h" is not a time with its unit, such as 90s or 5m`,
		"--list=perhaps":                 `--list: "perhaps" is neither true nor false`,
		`--kernels "a`:                   `--kernels: "\"a" is not a list joined by commas`,
		"--kernels=":                     "--kernels is empty",
		"--kernels 1,":                   "--kernels has an empty item",
		"--input=":                       "--input is empty",
		"--out=":                         "--out is empty",
		"--out":                          "flag needs an argument: --out",
		"--colour":                       "unknown flag: --colour",
		"-x":                             "unknown shorthand flag: 'x' in -x",
		"--=3":                           "bad flag syntax: --=3",
		"--threads 2 --out f --input a,": "",
	} {
		f := NewFlags("tool")
		f.Int("threads", 0, "")
		f.Int64("seed", 0, "")
		f.Float64("share", 0, "")
		f.Duration("budget", 0, "")
		f.Bool("list", false, "")
		f.StringSlice("kernels", nil, "")
		f.StringArray("input", nil, "")
		f.String("out", "", "")
		err := Parse(f, strings.Fields(args), "")
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", args, err)
			}
			continue
		}
		if want += " (tool --help lists the flags)"; err == nil || err.Error() != want || Status(err) != Usage {
			t.Errorf("%s: status %d, %v\nwant %s", args, Status(err), err, want)
		}
		if text := fmt.Sprint(err); strings.Contains(text, "strconv") || strings.Contains(text, "time:") {
			t.Errorf("%s: %s", args, text)
		}
	}
	if err := Parse(NewFlags("tool"), []string{"--help"}, ""); !errors.Is(err, pflag.ErrHelp) {
		t.Error(err)
	}
}

func TestInput(t *testing.T) {
	wrong := errors.New("x.csv: wrong")
	for _, c := range []struct {
		err    error
		text   string
		status int
	}{
		{Input("input", nil), "<nil>", OK},
		{Input("", nil), "<nil>", OK},
		{Input("input", wrong), "--input: x.csv: wrong", Usage},
		{Input("", wrong), "x.csv: wrong", Usage},
		{Input("input", fmt.Errorf("x.csv: %w", context.Canceled)), "x.csv: context canceled", Interrupted},
		{wrong, "x.csv: wrong", Failed},
	} {
		if fmt.Sprint(c.err) != c.text || Status(c.err) != c.status {
			t.Errorf("%v has status %d, want %s with %d", c.err, Status(c.err), c.text, c.status)
		}
	}
}

// TestObserved: output that is lost is a failure, told once.
func TestObserved(t *testing.T) {
	for _, c := range []struct {
		w      io.Writer
		status int
		want   int
		stderr string
	}{
		{io.Discard, OK, OK, ""},
		{io.Discard, Usage, Usage, ""},
		{full{}, OK, Failed, "tool: the disk is full\n"},
		{full{}, Failed, Failed, ""}, // it has said so itself
		{full{}, Interrupted, Interrupted, ""},
	} {
		var stderr bytes.Buffer
		status := observed(t.Context(), "tool", func(_ context.Context, args []string, stdout, _ io.Writer) int {
			fmt.Fprintln(stdout, args)
			fmt.Fprintln(stdout, args)
			return c.status
		}, nil, c.w, &stderr)
		if status != c.want || stderr.String() != c.stderr {
			t.Errorf("a command that ends with %d has status %d, says %q; want %d, %q", c.status, status, stderr.String(), c.want, c.stderr)
		}
	}
}

func TestLine(t *testing.T) {
	const line = "[1/2] 64 int8×int8→int32"
	for most, want := range map[int]string{-1: "", 0: "", 1: "…", 16: "[1/2] 64 int8×i…", 24: line, 99: line} {
		if got := cut(line, most); got != want {
			t.Errorf("%d columns: %q, want %q", most, got, want)
		}
	}
	if got := Line(io.Discard, line, 1000); got != line {
		t.Errorf("what is no terminal has %q", got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// TestEnded: a command that does not look at its context ends all the same, and only then.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	exit := make(chan time.Time, 1)
	ended(ctx, 20*time.Millisecond, func() { exit <- time.Now() })
	select {
	case <-exit:
		t.Fatal("it is ended without a signal")
	case <-time.After(50 * time.Millisecond):
	}
	told := time.Now()
	cancel()
	if at := <-exit; at.Sub(told) < 20*time.Millisecond {
		t.Errorf("ended after %s", at.Sub(told))
	}
}
