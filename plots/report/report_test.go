package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/internal/thoroughtest"
	"matladder/model/traverse"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/plots/report"
	"matladder/plots/report/echarts"
	"matladder/results"
	"matladder/tile"

	"github.com/google/go-cmp/cmp"
)

// sample reads the rows that the pictures' tests draw, too.
func sample(t testing.TB) []results.Record {
	t.Helper()
	var rows []results.Record
	for _, name := range []string{"sample_cpu.csv", "sample_tpu.csv"} {
		f, err := results.ReadFile(filepath.Join("..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, f.Rows...)
	}
	return rows
}

// recording is of a small program.
func recording(t testing.TB) *traverse.Recording {
	t.Helper()
	b := tile.New("copy")
	i := b.Axis("i", 3, tile.Parallel)
	a := b.In("a", tile.Float32, tile.Array(6, 4), tile.Block(2, 4).At(i, tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(6, 4), tile.Block(2, 4).At(i, tile.Const(0)))
	b.Store(o, a)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	r, err := traverse.Record(context.Background(), "copy in </script><b>three</b> steps, v4_optblock 1024x1024x1024 float32xfloat32tofloat32, blocks 128x128x128", programs, nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pictures are two kinds of what cmd/plot puts into a report.
func pictures(t testing.TB, summaries []stats.Summary) []figure.Picture {
	t.Helper()
	var list []figure.Picture
	for _, q := range []plots.Request{{Kind: plots.Blocks, Kernel: "v4_optblock", Dtype: "float32"}, {Kind: plots.Errors}} {
		made, err := plots.Pictures(summaries, q)
		if missing := new(plots.NoRowsError); err != nil && !errors.As(err, &missing) {
			t.Fatal(err)
		}
		list = append(list, made...)
	}
	return list
}

// each goes through rows as a file would.
func each(rows []results.Record) iter.Seq2[*results.Record, error] {
	return func(yield func(*results.Record, error) bool) {
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
}

func write(t testing.TB, rows []results.Record) string {
	t.Helper()
	var b bytes.Buffer
	summaries := stats.Summarize(rows)
	in := report.Input{Summaries: summaries, Rows: each(rows), Traversals: []*traverse.Recording{recording(t)}, Pictures: pictures(t, summaries)}
	if err := report.Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile puts text that would end a script, a style, a tag or an attribute
// into every free text of a row.
func hostile(rows []results.Record) []results.Record {
	const evil = `</script><script>window.pwned=1</script><img src=http://example.com/x onerror="pwned=1">'"` + "`${pwned=1}\u2028<!--"
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		for _, text := range []*string{&r.Host, &r.Device, &r.Variant, &r.Reason, &r.Params, &r.RunID, &r.Backend, &r.Plugin,
			&r.PluginVersion, &r.MatladderVersion, &r.PeakSource, &r.BandwidthSource, &r.Dist, &r.BlockSource, &r.ISA} {
			*text += evil
		}
		if i%3 == 0 {
			r.Kernel += evil
		}
		if i%5 == 0 {
			r.Quant += evil
		}
	}
	return rows
}

var (
	scripts = regexp.MustCompile(`(?s)<script([^>]*)>.*?</script>`)
	styles  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
)

// TestWrite_Parses: without its scripts and styles the page is well-formed, and
// nothing in it is loaded from elsewhere, whatever the rows say.
func TestWrite_Parses(t *testing.T) {
	rows := sample(t)
	for name, rows := range map[string][]results.Record{"sample": rows, "hostile": hostile(rows)} {
		page := write(t, rows)
		if n := len(scripts.FindAllString(page, -1)); n != 5 {
			t.Errorf("%s: %d scripts, want 5", name, n)
		}
		rest := scripts.ReplaceAllString(page, "<script$1></script>")
		for _, style := range styles.FindAllString(rest, -1) {
			if regexp.MustCompile(`url\(|@import`).MatchString(style) {
				t.Errorf("%s: a style loads something", name)
			}
		}
		rest = styles.ReplaceAllString(rest, "")
		rest = strings.Replace(rest, "<!doctype html>", "", 1)
		d := xml.NewDecoder(strings.NewReader(rest))
		d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "br", "img"}, xml.HTMLEntity
		open := 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				open++
				if slices.Contains([]string{"iframe", "object", "embed", "base"}, token.Name.Local) {
					t.Errorf("%s: a %s", name, token.Name.Local)
				}
				for _, a := range token.Attr {
					local := strings.HasPrefix(a.Value, "#") || strings.HasPrefix(a.Value, "data:")
					if slices.Contains([]string{"src", "href", "action", "data"}, a.Name.Local) && !local || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("%s: <%s %s=%q>", name, token.Name.Local, a.Name.Local, a.Value)
					}
				}
			case xml.EndElement:
				open--
			}
		}
		if open != 0 {
			t.Errorf("%s: %d elements left open", name, open)
		}
	}
}

// TestWrite_Rows: the page holds every row as it was.
func TestWrite_Rows(t *testing.T) {
	rows := hostile(sample(t))
	page := write(t, rows)
	packed := regexp.MustCompile(`(?s)<script type="text/plain" id="rows"[^>]*>(.*?)</script>`).FindStringSubmatch(page)
	if packed == nil {
		t.Fatal("no rows in the page")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed[1])))
	if err != nil {
		t.Fatal(err)
	}
	have, err := results.Read(z, "page")
	if err != nil {
		t.Fatal(err)
	}
	if len(have.Bad) > 0 || len(have.Rows) != len(rows) {
		t.Fatalf("%d rows of %d, bad: %v", len(have.Rows), len(rows), have.Bad)
	}
	for i := range rows {
		rows[i].Pos, have.Rows[i].Pos = results.Pos{}, results.Pos{}
		if diff := cmp.Diff(rows[i], have.Rows[i]); diff != "" {
			t.Fatalf("row %d: -want +have\n%s", i, diff)
		}
	}
}

func TestWrite_Deterministic(t *testing.T) {
	rows := sample(t)
	if write(t, rows) != write(t, rows) {
		t.Error("two pages of the same rows differ")
	}
}

func TestWrite_Nothing(t *testing.T) {
	if err := report.Write(io.Discard, report.Input{}); err == nil {
		t.Error("a report of no points was written")
	}
}

// TestWrite_Large: 10 000 points, the most that so many rows can make, stay
// under 5 MB.
func TestWrite_Large(t *testing.T) {
	base := sample(t)
	rows := make([]results.Record, 10000/thoroughtest.OneIn(1, 5, 5))
	for i := range rows {
		rows[i] = base[i%len(base)]
		rows[i].Pos = results.Pos{File: "large.csv", Line: i + 2}
		rows[i].Seconds *= 1 + math.Abs(math.Sin(float64(i)))
		rows[i].M, rows[i].Params = 128+i/20, fmt.Sprintf("stages=%d", i%20)
	}
	if n := len(stats.Summarize(rows)); n < len(rows)*9/10 {
		t.Fatalf("only %d points", n)
	}
	if few, n := len(write(t, rows[:20])), len(write(t, rows)); n-few > 400*len(rows) {
		t.Errorf("%d bytes, and %d for 20 rows", n, few)
	}
}

// TestECharts: the library is the release that its package names.
func TestECharts(t *testing.T) {
	sum := sha256.Sum256([]byte(echarts.JS))
	if have := hex.EncodeToString(sum[:]); have != echarts.SHA256 {
		t.Errorf("SHA-256 %s, want %s", have, echarts.SHA256)
	}
	if !strings.Contains(echarts.JS, `version="`+echarts.Version+`"`) && !strings.Contains(echarts.JS, `"`+echarts.Version+`"`) {
		t.Errorf("it does not say that it is version %s", echarts.Version)
	}
	if strings.Contains(strings.ToLower(echarts.JS), "</script") {
		t.Error("it would end the script that holds it")
	}
}
