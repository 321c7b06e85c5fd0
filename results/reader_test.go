package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"

	"github.com/google/go-cmp/cmp"
)

const shortHeader = "schema,kernel,mode,status,m,k,n,dtype_a,launches,seconds"

// good is a row under shortHeader.
const good = "1,v1_naive,measured,ok,128,64,32,float32,1,0.5"

func TestReadMapsColumnsByName(t *testing.T) {
	f := read(t, []byte("\ufeffseconds,colour,n,k,m,schema,kernel,status,mode,dtype_a,launches\r\n"+
		"0.5,\"red, dark\",32,64,128,1,v1_naive,ok,measured,float32,1\r\n"))
	want := minimal()
	want.Seconds, want.Extra, want.Pos = 0.5, map[string]string{"colour": "red, dark"}, Pos{"x.csv", 2}
	if diff := cmp.Diff([]Record{want}, f.Rows); diff != "" || f.Warnings() != nil {
		t.Errorf("-want +got, warnings %v:\n%s", f.Warnings(), diff)
	}
}

func TestReadRefusesFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "x.csv:1: the file is empty",
		"\n\n":                   "x.csv:1: the file is empty",
		shortHeader:              "x.csv:1: not a results file: the header is not a whole line",
		"\"schema,kernel\n":      "x.csv:1: not a results file: the header is not a whole line",
		"hello\n":                "x.csv:1: not a results file: missing columns schema, kernel, mode, status, m, k, n, dtype_a, launches, seconds",
		"k" + shortHeader[6:]:    "x.csv:1: not a results file: the header is not a whole line",
		shortHeader + ",,\n":     "x.csv:1: not a results file: column 11 has no name",
		shortHeader + ",m\n":     `x.csv:1: not a results file: column "m" appears twice`,
		"a\"b\"c," + good + "\n": `x.csv:1: not a results file: the header is not CSV`,
		shortHeader + manyColumns(maxColumns-10) + "\n":                    "x.csv:1: not a results file: 128 columns and " + strconv.Itoa(len(columns)-10) + " of the format that it lacks, together more than 128",
		shortHeader + manyColumns(maxColumns-9) + "\n":                     "x.csv:1: not a results file: 129 columns, more than 128",
		" Schema, Kernel, Mode,Status,M,k,n,dtype a,launches,\tSeconds \n": `x.csv:1: not a results file: missing columns schema (column 1 is " Schema": write schema), kernel (column 2 is " Kernel": write kernel), mode (column 3 is " Mode": write mode), status (column 4 is "Status": write status), m (column 5 is "M": write m), dtype_a (column 8 is "dtype a": write dtype_a), seconds (column 10 is "\tSeconds ": write seconds)`,
		strings.Replace(shortHeader, ",m,k,", ",", 1) + "\n" + good + "\n": "x.csv:1: not a results file: missing columns m, k",
		strings.Replace(shortHeader, "seconds", "second", 1) + "\n":        "x.csv:1: not a results file: missing column seconds",
		strings.Repeat("x", maxRow+10):                                     "x.csv:1: not a results file: the header is not a whole line",
	} {
		f, err := Read(strings.NewReader(text), "x.csv")
		var syntax *SyntaxError
		if f != nil || !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%.60q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// Each bad row stands between good ones, which must survive it.
func TestReadRefusesRow(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for row, want := range map[string]string{
		with(",128,", ",,"):                           `column "m": must be at least 1`,
		with(",128,", ",0,"):                          `column "m": must be at least 1`,
		with(",128,", ",-128,"):                       `column "m": -128 is negative`,
		with(",128,", ",1.5,"):                        `column "m": "1.5" is not a whole number`,
		with(",128,", ",99999999999999999999,"):       `column "m": 99999999999999999999 does not fit 64 bits`,
		with(",128,64,", ",4294967296,2147483648,"):   `column "m": 2·batch·m·n·k of 1×4294967296×32×2147483648 overflows 63 bits`,
		with("0.5", "NaN"):                            `column "seconds": NaN is not a number; leave the cell empty`,
		with("0.5", "-inf"):                           `column "seconds": -Inf is not a number; leave the cell empty`,
		with("0.5", "1e999"):                          `column "seconds": 1e999 does not fit a float64`,
		with("0.5", "-0.5"):                           `column "seconds": -0.5 is negative`,
		with("0.5", "half"):                           `column "seconds": "half" is not a number`,
		with("0.5", ""):                               `column "seconds": an ok row took more than 0`,
		with(",1,0.5", ",0,0.5"):                      `column "launches": an ok row has at least 1`,
		with("1,", "2,"):                              `column "schema": "2" is not 1, the only version known here`,
		with("measured", "guessed"):                   `column "mode": "guessed" is none of [measured predicted]`,
		with("measured", ""):                          `column "mode": empty`,
		with("float32", ""):                           `column "dtype_a": empty`,
		with(",ok,", ",okay,"):                        `column "status": "okay" is none of [ok too_big unsupported wrong impossible failed timeout crashed skipped]`,
		with(",0.5", ""):                              "9 cells under a header of 10",
		with("0.5", "0.5,"):                           "11 cells under a header of 10",
		with("v1_naive", "v1\"x"):                     "a quote is never closed",
		with("v1_naive", "\"v1_na"):                   "a quote is never closed",
		with("v1_naive", "\"v\"1\"\""):                `extraneous or missing " in quoted-field`,
		with("v1_naive", strings.Repeat("v", maxRow)): "longer than 2097152 bytes",
	} {
		text := shortHeader + "\n" + good + "\n" + row + "\n" + good + "\n" + good + "\n"
		f := read(t, []byte(text))
		if len(f.Rows) != 3 || len(f.Bad) != 1 || f.Torn != nil {
			t.Errorf("%.80q: %d rows, bad %v, torn %v; want 3 rows and 1 bad", row, len(f.Rows), f.Bad, f.Torn)
			continue
		}
		if got := f.Bad[0].Error(); got != "x.csv:3: "+want {
			t.Errorf("%.80q:\n got %s\nwant x.csv:3: %s", row, got, want)
		}
		if lines := []int{f.Rows[0].Pos.Line, f.Rows[1].Pos.Line, f.Rows[2].Pos.Line}; !slices.Equal(lines, []int{2, 4, 5}) {
			t.Errorf("%.80q: good rows on lines %v", row, lines)
		}
	}
}

// Cut at every byte, a file keeps every whole row and reports the rest as torn.
func TestReadTorn(t *testing.T) {
	rows := make([]Record, 3)
	for i := range rows {
		rows[i] = minimal()
		rows[i].Rep = i
		rows[i].Reason = "two\nlines, and a \"quote\"\n"
	}
	text := write(t, rows)
	ends := []int{len(write(t, nil)), len(write(t, rows[:1])), len(write(t, rows[:2])), len(text)}
	for cut := ends[0]; cut <= len(text); cut++ {
		whole := 0
		for whole < 3 && ends[whole+1] <= cut {
			whole++
		}
		f := read(t, text[:cut])
		if diff := cmp.Diff(rows[:whole], f.Rows, sameRow...); diff != "" || f.Bad != nil {
			t.Fatalf("cut at %d: bad %v, -want +got:\n%s", cut, f.Bad, diff)
		}
		switch {
		case cut == ends[whole] && f.Torn != nil:
			t.Fatalf("cut at %d, between rows: %v", cut, f.Torn)
		case cut > ends[whole] && (f.Torn == nil || f.Torn.Bytes != int64(cut-ends[whole]) || f.Torn.Line != 2+3*whole):
			t.Fatalf("cut at %d: torn %v, want %d bytes on line %d", cut, f.Torn, cut-ends[whole], 2+3*whole)
		}
	}
}

// A stray quote before the torn row neither hides it nor moves it.
func TestReadTorn_AfterStrayQuote(t *testing.T) {
	stray := strings.Replace(good, "v1", "\"v1", 1)
	f := read(t, []byte(shortHeader+"\n"+stray+"\n"+good+"\n"+good+"\n1,v1"))
	if len(f.Rows) != 2 || len(f.Bad) != 1 || f.Bad[0].Line != 2 || f.Torn == nil || *f.Torn != (TornError{"x.csv", 5, 4}) {
		t.Errorf("%d rows, bad %v, torn %+v", len(f.Rows), f.Bad, f.Torn)
	}
}

// A file made to cost memory or time is read in bounded amounts of both.
func TestReadHostile(t *testing.T) {
	for name, line := range map[string]string{
		"one endless line":      "x",
		"one endless quote":     "\"x",
		"quotes never closed":   "\"\n\"\"\n\"\"\n",
		"blank lines in quotes": "\"\n\n\n\n\n\n\n\n\n\n\n",
		"bad rows":              "1,2\n",
		"cells":                 strings.Repeat(",", 1<<20) + "\n",
	} {
		size := int64(5 << 20)
		if strings.Contains(line, "\n") && len(line) < maxRow/2 { // more than a million rows
			size /= int64(thoroughtest.OneIn(1, 16, 16))
		}
		text := io.MultiReader(strings.NewReader(shortHeader+"\n"), io.LimitReader(&repeat{text: line}, size))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := Read(text, "x.csv")
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil || len(f.Rows) != 0 || f.Warnings() == nil || len(f.Bad) > maxBad {
			t.Errorf("%s: %v, %d rows, %d bad", name, err, len(f.Rows), len(f.Bad))
		}
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > size*4/5 {
			t.Errorf("%s: %d MiB kept of what was refused", name, kept>>20)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 124<<20 {
			t.Errorf("%s: the heap grew by %d MiB", name, grown>>20)
		}
	}
}

// repeat reads text over and over.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r.text[(r.at+n)%len(r.text):])
	}
	r.at += n
	return n, nil
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.csv", "a.csv", "[odd].csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(shortHeader+"\n"+good+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files(filepath.Join(dir, "b.csv"), filepath.Join(dir, "[odd].csv"), filepath.Join(dir, "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	if want := []string{"b.csv", "[odd].csv", "a.csv"}; !slices.Equal(names, want) {
		t.Errorf("read %v, want %v", names, want)
	}
	for _, pattern := range []string{"none*.csv", "none.csv"} {
		if _, err := Files(filepath.Join(dir, pattern)); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), pattern) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if _, err := ReadFile(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

// manyColumns are n more columns of a header.
func manyColumns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",x%d", i)
	}
	return b.String()
}

// Whatever Read accepts, Write writes to a file that reads back equal; nothing panics.
func FuzzRead(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	var buf bytes.Buffer
	for n := range 4 {
		rows := make([]Record, n)
		for i := range rows {
			rows[i] = randomRecord(rng)
		}
		buf.Reset()
		if err := Write(&buf, rows); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	for _, row := range []string{
		"", good, good + "\n", good + "\r\n" + good + "\r\n", good + "\n\"" + good + "\n" + good + "\n", "1,\"v1\nx\"" + good[10:] + "\n",
		"1,\xff\x00\x1b,measured,failed,1,1,1,\r,,\n", "1,v,predicted,ok,1,1,1,d,1,0x1p-3\n", "1,v,measured,ok,1,1,1,d,1,-0\n",
		"1,v1,measured,ok,9,9,9,int8,1,5e-324\n1,v2,measured,ok,9,9,9,int8,1,1e308\n1,xla,measured,ok,9,9,9,int8,1,1e308\n",
	} {
		f.Add([]byte(shortHeader + "\n" + row))
		f.Add([]byte(shortHeader + ",method,round,peak_flops\n" + strings.ReplaceAll(row, "\n", ",loop,3,1e-300\n")))
		f.Add([]byte(shortHeader + ",started_at,seed,extra\n" + strings.ReplaceAll(row, "\n", ",0001-01-01T00:00:00+01:00,-5,=x\n")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Read(bytes.NewReader(text), "x.csv")
		if err != nil {
			return
		}
		keys := newKeys()
		for i := range got.Rows { // of a file without such columns
			if _, again := keys.add(&got.Rows[i]); again {
				got.Rows[i].Rep = 1<<19 + i
			}
		}
		again := read(t, write(t, got.Rows))
		if w := again.Warnings(); w != nil {
			t.Fatalf("accepted, written, then refused: %v", w)
		}
		if diff := cmp.Diff(got.Rows, again.Rows, sameRow...); diff != "" {
			t.Fatalf("accepted rows changed when written:\n%s", diff)
		}
	})
}
