package stats

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"matladder/results"
)

func write(t testing.TB, rows []results.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := results.Write(&buf, rows); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func read(t testing.TB, text []byte) *results.File {
	t.Helper()
	f, err := results.Read(bytes.NewReader(text), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// minimal is a legal row with nothing optional in it.
func minimal() results.Record {
	return results.Record{
		Schema: results.Schema, Kernel: "v1_naive", Mode: results.Measured, Status: results.OK,
		Batch: 1, M: 128, K: 64, N: 32, DtypeA: "float32", Launches: 1, Seconds: 1e-3,
	}
}

func BenchmarkReadSummarize(b *testing.B) {
	var rows []results.Record
	for point := range 1000 {
		for round := range 20 {
			r := minimal()
			r.M, r.Round, r.Seconds, r.Host, r.Device = 1+point, round, 1e-3+float64(round), "a host", "a device of some name"
			rows = append(rows, r)
		}
	}
	text := write(b, rows)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Summarize(read(b, text).Rows)
	}
}

// Whatever Read accepts, every table can be made of; nothing panics.
func FuzzTable(f *testing.F) {
	const header = "schema,kernel,mode,status,m,k,n,dtype_a,launches,seconds"
	for _, row := range []string{
		"", "1,v1_naive,measured,ok,128,64,32,float32,10,0.5\n", "1,v,predicted,ok,1,1,1,d,1,0x1p-3\n", "1,v,measured,ok,1,1,1,d,1,-0\n",
		"1,v1,measured,ok,9,9,9,int8,1,5e-324\n1,v2,measured,ok,9,9,9,int8,1,1e308\n1,xla,measured,ok,9,9,9,int8,1,1e308\n",
	} {
		f.Add([]byte(header + "\n" + row))
		f.Add([]byte(header + ",method,round,peak_flops\n" + strings.ReplaceAll(row, "\n", ",loop,3,1e-300\n")))
		f.Add([]byte(header + ",started_at,seed,extra\n" + strings.ReplaceAll(row, "\n", ",0001-01-01T00:00:00+01:00,-5,=x\n")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := results.Read(bytes.NewReader(text), "x.csv")
		if err != nil {
			return
		}
		summaries := Summarize(file.Rows)
		for _, format := range Formats {
			if err := WriteTable(io.Discard, format, Best(summaries)); err != nil {
				t.Fatalf("accepted, but no %s table: %v", format, err)
			}
		}
	})
}
