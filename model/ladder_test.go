package model

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/internal/goldentest"
)

// rowsVariable names files of results by a pattern, from which TestPrediction -update writes the
// table anew.
const rowsVariable = "MATLADDER_ROWS"

// ladderSizes are the columns of the page's table.
var ladderSizes = []int{512, 1024, 2048, 4096, 8192}

// beside is v5 as it is predicted by default beside XLA's own product under the same limit.
type beside struct {
	Chip, Dtype, Blocks, Params string
	Size                        int
	Micros, XLA, Peak           float64 // µs, µs, and percent of the peak, 0 where none is published
}

func (b beside) ratio() float64 { return b.XLA / b.Micros }

// String is a cell of the page.
func (b beside) String() string {
	peak := "–"
	if b.Peak > 0 {
		peak = fmt.Sprintf("%.1f", b.Peak)
	}
	ratio := fmt.Sprintf("%.2f", b.ratio())
	if r := b.ratio(); r < 1 && r >= 0.995 {
		ratio = fmt.Sprintf("%.3f", r)
	}
	return peak + " / " + ratio
}

type besideLine struct {
	Chip, Dtype string
	Cells       []string
}

// besides is the page's table.
type besides struct {
	Lines []besideLine
	Below []string // points at which XLA's own is predicted faster
	Asked int
	Least float64 // of the rates over XLA's
}

// besidePage reads the table, and makes it of rows of results first where rowsVariable names any.
func besidePage(t *testing.T) (page besides) {
	t.Helper()
	const file = "v5_predicted.csv"
	if pattern := os.Getenv(rowsVariable); pattern != "" {
		goldentest.Assert(t, filepath.Join("testdata", file), []byte(besideTable(t, pattern)))
	}
	lines := map[string]int{}
	for _, r := range table(t, file) {
		b := beside{Chip: r[0], Dtype: r[1], Blocks: r[3], Params: r[4]}
		var err [4]error
		b.Size, err[0] = strconv.Atoi(r[2])
		b.Micros, err[1] = strconv.ParseFloat(r[5], 64)
		b.XLA, err[2] = strconv.ParseFloat(r[6], 64)
		if r[7] != "" {
			b.Peak, err[3] = strconv.ParseFloat(r[7], 64)
		}
		at := slices.Index(ladderSizes, b.Size)
		if e := cmp.Or(err[:]...); e != nil || at < 0 {
			t.Fatalf("%v: %v", r, e)
		}
		name := b.Chip + " " + b.Dtype
		if _, ok := lines[name]; !ok {
			lines[name] = len(page.Lines)
			page.Lines = append(page.Lines, besideLine{b.Chip, b.Dtype, slices.Repeat([]string{"not asked"}, len(ladderSizes))})
		}
		page.Lines[lines[name]].Cells[at] = b.String()
		page.Asked++
		if page.Asked == 1 || b.ratio() < page.Least {
			page.Least = b.ratio()
		}
		if b.ratio() < 0.9995 {
			page.Below = append(page.Below, fmt.Sprintf("%s %s at %d, %.3f (%s)", b.Chip, b.Dtype, b.Size, b.ratio(), b.Blocks))
		}
	}
	return page
}

// TestV5 holds what the page says of v5 beside XLA to one point in 45 that XLA has, by half a
// percent at most. The table, and the page with it, are written anew of what bench wrote by
//
//	MATLADDER_ROWS="$PWD/out/*.csv" go test ./model -run TestPrediction -update
func TestV5(t *testing.T) {
	page := besidePage(t)
	if page.Asked < 45 || len(page.Below) > page.Asked/45 || page.Least < 0.995 {
		t.Errorf("%d points, %d below XLA, the least %.3f", page.Asked, len(page.Below), page.Least)
	}
	t.Logf("%d points, below XLA at %d: %s", page.Asked, len(page.Below), strings.Join(page.Below, "; "))
	for _, l := range page.Lines {
		t.Logf("%s %s: %s", l.Chip, l.Dtype, strings.Join(l.Cells, ", "))
	}
}

// besideTable is the table of files of results: of each point the fastest row of v5, and XLA's.
func besideTable(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s=%s: %v, %d files", rowsVariable, pattern, err, len(files))
	}
	points := map[string]beside{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		column := map[string]int{}
		for i, h := range rows[0] {
			column[h] = i
		}
		for _, r := range rows[1:] {
			of := func(h string) string { return r[column[h]] }
			seconds, err := strconv.ParseFloat(of("seconds"), 64)
			if of("status") != "ok" || err != nil || of("mode") != "predicted" {
				continue
			}
			size, err := strconv.Atoi(of("m"))
			if err != nil {
				t.Fatalf("%s: m: %v", name, err)
			}
			key := fmt.Sprintf("%s %s %06d", of("chip"), of("dtype_a"), size)
			b := points[key]
			b.Chip, b.Dtype, b.Size = strings.TrimPrefix(of("chip"), "tpu_"), of("dtype_a"), size
			switch micros := seconds * 1e6; {
			case of("kernel") == "xla":
				b.XLA = micros
			case b.Micros == 0 || micros < b.Micros:
				b.Micros, b.Blocks, b.Params = micros, of("bm")+"x"+of("bk")+"x"+of("bn"), of("params")
				peak, err := strconv.ParseFloat(of("peak_flops"), 64)
				flops, err2 := strconv.ParseFloat(of("flops"), 64)
				if b.Peak = 0; err == nil && err2 == nil {
					b.Peak = 100 * flops / seconds / peak
				}
			}
			points[key] = b
		}
	}
	var keys []string
	for key, b := range points {
		if b.XLA > 0 && b.Micros > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	text := "chip,dtype,size,blocks,params,v5_us,xla_us,percent_of_peak\n"
	for _, key := range keys {
		b, peak := points[key], ""
		if b.Peak > 0 {
			peak = fmt.Sprintf("%.2f", b.Peak)
		}
		text += fmt.Sprintf("%s,%s,%d,%s,%s,%.3f,%.3f,%s\n", b.Chip, b.Dtype, b.Size, b.Blocks, b.Params, b.Micros, b.XLA, peak)
	}
	return text
}
