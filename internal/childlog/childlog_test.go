package childlog

import (
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	for _, test := range []struct{ printed, want, two string }{
		{"", "", ""},
		{"one\ntwo  \n\n", "two", "one; two"},
		{"the reason\nSIGABRT: abort\nPC=0x1 m=0\n\nrax 0x0\n", "SIGABRT: abort", "the reason; SIGABRT: abort"},
		{strings.Repeat("much\n", keptLast) + "the end", "the end", "much; the end"},
		{strings.Repeat("x", 2*keptLast), strings.Repeat("x", keptLine), strings.Repeat("x", keptLine)},
		{"no driver\npanic: gives up\n\ngoroutine 1 [running]:\n" + strings.Repeat("main.go:1\n", keptLast), "panic: gives up", "no driver; panic: gives up"},
		{"one\nF1122 07:43:57.811055   26550 dumper.cc:598] Check failed: no space\n=== Trace: ===\nsome.cc:20\nhttps://symbolize/?trace=7f\n",
			"F1122 07:43:57.811055   26550 dumper.cc:598] Check failed: no space", "one; F1122 07:43:57.811055   26550 dumper.cc:598] Check failed: no space"},
		{"\xffbad\xff\n", "bad", "bad"},
	} {
		var w Writer
		for part := range strings.SplitAfterSeq(test.printed, "e") { // as it comes, in pieces
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(part), err)
			}
		}
		if got := w.Lines(2); got != test.two {
			t.Errorf("%.40q: the last two lines are %.40q, want %.40q", test.printed, got, test.two)
		}
		if got := w.Line(); got != test.want {
			t.Errorf("%.40q: the last line is %.40q, want %.40q", test.printed, got, test.want)
		}
	}
}
