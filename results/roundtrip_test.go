package results

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"

	"github.com/google/go-cmp/cmp"
)

func write(t testing.TB, rows []Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, rows); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func read(t testing.TB, text []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(text), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 / thoroughtest.OneIn(1, 4, 8) {
		rows := make([]Record, rng.IntN(20))
		for i := range rows {
			rows[i] = randomRecord(rng)
		}
		text := write(t, rows)
		f := read(t, text)
		if w := f.Warnings(); w != nil {
			t.Fatalf("a file just written: %v", w)
		}
		if diff := cmp.Diff(rows, f.Rows, sameRow...); diff != "" {
			t.Fatalf("read differs from written:\n%s", diff)
		}
		// Any other CSV reader sees the same shape.
		cells, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(cells) != len(rows)+1 || !slices.Equal(cells[0][:len(Columns)], Columns) {
			t.Fatalf("encoding/csv reads %d rows of %d, error %v", len(cells)-1, len(rows), err)
		}
	}
}

func TestWriteMakesTextsSafe(t *testing.T) {
	r := minimal()
	r.Reason = "\x1b[31mred\x00\r\nnext\rlast \xff" + strings.Repeat("é", maxCell)
	got := read(t, write(t, []Record{r})).Rows[0].Reason
	if want := " [31mred \nnext\nlast \uFFFDéé"; !strings.HasPrefix(got, want) {
		t.Errorf("got %.40q, want it to start with %q", got, want)
	}
	if len(got) > maxCell || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes ending in %q, want at most %d ending in …", len(got), got[len(got)-6:], maxCell)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Record){
		`column "seconds": NaN`:                        func(r *Record) { r.Seconds = math.NaN() },
		`column "rel_err": +Inf`:                       func(r *Record) { r.RelErr = Some(math.Inf(1)) },
		`column "seconds": an ok row`:                  func(r *Record) { r.Seconds = 0 },
		`column "launches": an ok row`:                 func(r *Record) { r.Launches = 0 },
		`column "launches": a predicted row has 1`:     func(r *Record) { r.Mode, r.Launches = Predicted, 2 },
		`column "bytes_moved": -1 is negative`:         func(r *Record) { r.BytesMoved = -1 },
		`column "m": must be at least 1`:               func(r *Record) { r.M = 0 },
		`column "m": 2·batch·m·n·k`:                    func(r *Record) { r.M, r.K, r.N = 1<<31, 1<<31, 1 },
		`column "status": "fine" is none of [ok too_b`: func(r *Record) { r.Status = "fine" },
		`column "kernel": empty`:                       func(r *Record) { r.Kernel = "" },
		`column "schema": "2" is not 1`:                func(r *Record) { r.Schema = "2" },
		`column "colour": no such column`:              func(r *Record) { r.Extra = map[string]string{"colour": "red"} },
	} {
		r := minimal()
		spoil(&r)
		var buf bytes.Buffer
		w, err := NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		header := buf.Len()
		if err := w.Write(&r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
		if buf.Len() != header {
			t.Errorf("%s: refused, yet %d bytes were written", name, buf.Len()-header)
		}
	}
}

// The specification lists what the code knows, in the same order: columns in
// tables of four cells, methods of three, statuses of two.
func TestFormatListsAll(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[int][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|(.*)\\|\r?$").FindAllStringSubmatch(string(text), -1) {
		cells := strings.Split(row[2], "|")
		name := row[1]
		if len(cells) == 3 && strings.TrimSpace(cells[1]) == "required" {
			name += " required"
		}
		listed[1+len(cells)] = append(listed[1+len(cells)], name)
	}
	want := map[int][]string{}
	for _, c := range columns {
		name := c.name
		if c.required {
			name += " required"
		}
		want[4] = append(want[4], name)
	}
	for _, m := range Methods {
		want[3] = append(want[3], string(m))
	}
	for _, s := range Statuses {
		want[2] = append(want[2], string(s))
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("FORMAT.md differs (-code +file):\n%s", diff)
	}
}

// minimal is a legal row with nothing optional in it.
func minimal() Record {
	return Record{
		Schema: Schema, Kernel: "v1_naive", Mode: Measured, Status: OK,
		Batch: 1, M: 128, K: 64, N: 32, DtypeA: "float32", Launches: 1, Seconds: 1e-3,
	}
}
