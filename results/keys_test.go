package results

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRead_Doubled: a file that was appended to itself has as many samples as before,
// and says what was left out.
func TestRead_Doubled(t *testing.T) {
	rows := make([]Record, 20)
	for i := range rows {
		rows[i] = Record{Schema: Schema, Kernel: "v1", Mode: Measured, Status: OK, Batch: 1, M: 8, K: 8, N: 8, DtypeA: "int8", Round: i / 2, Rep: i % 2, Launches: 1, Seconds: 1}
	}
	rows = append(rows, Record{Schema: Schema, Kernel: "v2", Mode: Measured, Status: Wrong, Batch: 1, M: 8, K: 8, N: 8, DtypeA: "int8"})
	text := write(t, rows)
	_, body, _ := bytes.Cut(text, []byte("\n"))
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, append(text, body...), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(path)
	if err != nil || len(f.Rows) != 22 || len(f.Bad)+f.More != 20 {
		t.Fatalf("%v: %d rows, %d bad", err, len(f.Rows), len(f.Bad)+f.More)
	}
	if want := path + `:23: column "rep": the same repetition as line 2: v1 8×8×8 round 0 rep 0`; f.Bad[0].Error() != want {
		t.Errorf("says %q, want %q", f.Bad[0], want)
	}
	// A journal with such rows is not gone on with.
	quoted := strings.Replace(string(write(t, rows[:1])), "schema", `"schema"`, 1)
	head, row, _ := strings.Cut(quoted, "\n")
	if err := os.WriteFile(path, []byte(head+"\n"+row+`"1"`+row[1:]), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Resume(t.Context(), path); err == nil || !strings.Contains(err.Error(), "the same repetition as line 2") {
		t.Errorf("resuming: %v", err)
	}
}

// TestLimits: what no machine can be is a bad row, whatever column says it.
func TestLimits(t *testing.T) {
	for _, c := range columns {
		l, bounded := limits[c.name]
		if !bounded {
			continue
		}
		values := []float64{l.most * 2}
		if l.least > 0 {
			values = append(values, l.least/2, 5e-324)
		}
		for _, v := range values {
			header, row := "schema,kernel,mode,status,m,k,n,dtype_a,launches,seconds", "1,v1,measured,failed,8,8,8,int8,1,1"
			cell := fmt.Sprint(v)
			switch c.of(&Record{}).(type) {
			case *int, *int64:
				cell = fmt.Sprintf("%.0f", v)
			}
			if strings.Contains(header, c.name) {
				row = strings.Replace(row, ",1,1", map[string]string{"launches": "," + cell + ",1", "seconds": ",1," + cell}[c.name], 1)
			} else {
				header, row = header+","+c.name, row+","+cell
			}
			f, err := Read(strings.NewReader(header+"\n"+row+"\n"), "x.csv")
			if err != nil || len(f.Rows) != 0 || len(f.Bad) != 1 || f.Bad[0].Column != c.name {
				t.Errorf("%s = %s: %v, %d rows, %v", c.name, cell, err, len(f.Rows), f.Bad)
			}
		}
	}
	for name := range limits {
		if !strings.Contains(","+strings.Join(Columns, ",")+",", ","+name+",") {
			t.Errorf("a limit for %s, which is no column", name)
		}
	}
}
