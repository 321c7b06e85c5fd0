package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"gonum.org/v1/plot/cmpimg"

	"matladder/internal/goldentest"
	"matladder/results"
)

// pictures are the charts that the tests draw.
func pictures(t *testing.T) map[string]figure.Picture {
	t.Helper()
	all := map[string]figure.Picture{}
	for _, p := range []struct {
		name, file string
		q          Request
		at         int
	}{
		{"size_blocks", sampleCPU, Request{Size, "", "v4_optblock", "float32", nil, false}, 0},
		{"size_failures", sampleCPU, Request{Size, "", "v5_quant", "int8", nil, false}, 0},
		{"size_predicted", sampleTPU, Request{Size, "", "v4_optblock", "bfloat16", nil, false}, 0},
		{"size_baseline", sampleCPU, Request{Size, "", "xla", "bfloat16", nil, false}, 0},
		{"kernels", sampleCPU, Request{Kernels, "", "", "float32", nil, false}, 0},
		{"kernels_predicted", sampleTPU, Request{Kernels, "", "", "bfloat16", nil, false}, 0},
		{"kernels_shapes", sampleTPU, Request{Kernels, "", "", "bfloat16", nil, false}, 1},
		{"roofline", sampleCPU, Request{Roofline, "", "", "float32", nil, false}, 0},
		{"roofline_predicted", sampleTPU, Request{Roofline, "", "", "bfloat16", nil, false}, 0},
	} {
		made, err := charts(readSample(t, p.file), p.q)
		if err != nil {
			t.Fatal(err)
		}
		all[p.name] = made[p.at]
	}
	for i, p := range peerPictures(t) {
		all[[]string{"peers", "peers_shapes"}[i]] = p
	}
	all["accuracy"], all["anatomy"] = accuracyPicture(t), anatomyPicture(t)
	for _, kind := range []Kind{Ladder, Errors} {
		made, err := Pictures(stats.Summarize(readSample(t, sampleCPU)), Request{Kind: kind, Dtype: map[Kind]string{Ladder: "float32"}[kind]})
		if err != nil {
			t.Fatal(err)
		}
		all[string(kind)] = made[0]
	}
	for kind, rows := range map[Kind][]results.Record{
		Inputs: onInputs(onInputsRows(), "zeros", "ones", "sparse:50", "bits:0", "bits:4", "bits:15", "uniform"),
		Load:   underLoad(onInputsRows()[:6], 25, 50, 100),
	} {
		made, err := Pictures(stats.Summarize(rows), Request{Kind: kind, Dtype: "float32"})
		if err != nil || len(made) != 1 {
			t.Fatal(len(made), err)
		}
		all[string(kind)] = made[0]
	}
	all["scaling"] = scalingPictureOf(t, spreadRows())[0]
	all["layers"], all["layers_predicted"] = layerPicture(t, results.Measured), layerPicture(t, results.Predicted)
	all["work"] = workPicture(t)
	all["size_legend"] = crowdedChart(t)
	all["size_only_failures"] = failedChart(t)
	all["kernels_long_names"] = longNames(t)
	all["roofline_wide"] = wideChart(t)
	all["roofline_counted"] = countedChart(t)
	return all
}

// onInputsRows are two kernels at one size.
func onInputsRows() (rows []results.Record) {
	for i, kernel := range []string{"v5_quant", "xla"} {
		for round := range 6 {
			r := hand(kernel, 1024, 2e11*(1+0.1*float64(i))*(1-0.004*float64(round%3)))
			r.Round, r.RunID, r.Pos.Line = round, "r", len(rows)+2
			rows = append(rows, r)
		}
	}
	return rows
}

// crowdedChart has more lines than there is room for names beside them, and
// more failing ones than the strip has rows.
func crowdedChart(t *testing.T) *figure.Chart {
	t.Helper()
	var rows []results.Record
	for i := range 36 {
		for _, size := range []int{384, 512, 640, 1000, 1024, 2048} {
			r := hand("v4_optblock", size, 1e11*float64(i+1))
			r.BM, r.BK, r.BN = 8*(i+1), 64, 96
			if i%3 == 0 && size == 2048 {
				r.Status, r.Reason = results.TooBig, "does not fit"
			}
			rows = append(rows, r)
		}
	}
	return one(t, rows, Request{Size, "", "v4_optblock", "float32", nil, true})
}

func failedChart(t *testing.T) *figure.Chart {
	t.Helper()
	var rows []results.Record
	for _, size := range []int{512, 1024} {
		r := hand("v1_naive", size, 1e9)
		r.Status, r.PeakFLOPs = results.Crashed, 0
		rows = append(rows, r)
	}
	return one(t, rows, Request{Size, "", "v1_naive", "float32", nil, false})
}

// wideChart has intervals that reach far, in the way of labels.
func wideChart(t *testing.T) *figure.Chart {
	t.Helper()
	var rows []results.Record
	for i, kernel := range []string{"v1_naive", "v3_block", "v5_quant"} {
		for j, size := range []int{128, 256, 512} {
			for round, factor := range []float64{1, 0.8, 2.5} {
				r := hand(kernel, size, factor*float64(i+1)*float64(j+1)*5e10)
				r.Round, r.BytesMoved = round, r.FLOPs/int64(20+3*i*j)
				rows = append(rows, r)
			}
		}
	}
	return one(t, rows, Request{Roofline, "", "", "float32", nil, false})
}

// countedChart is of rows with misses of caches: of L2 more than the blocks that move, of
// L3 the operands alone, and at the smallest size next to none.
func countedChart(t *testing.T) *figure.Chart {
	t.Helper()
	var rows []results.Record
	for i, kernel := range []string{"v1_naive", "v3_block", "v4_optblock"} {
		for j, size := range []int{256, 1024} {
			r := hand(kernel, size, float64(i+1)*float64(j+1)*1e11)
			r.BytesMoved = r.FLOPs / int64(12*(i+1)*(j+1))
			r.Launches, r.Seconds = 10, r.Seconds*10
			r.Cycles, r.L2Misses = results.Some[int64](1e9), results.Some(r.BytesMoved*int64(3-i)/64*10)
			r.L3Misses = results.Some(r.BytesMoved / 4 / 64 * 10)
			if size == 256 {
				r.L3Misses = results.Some[int64](10)
			}
			rows = append(rows, r)
		}
	}
	return one(t, rows, Request{Roofline, "", "", "float32", nil, false})
}

// longNames has more shapes than fit side by side, and names that do not fit
// their line.
func longNames(t *testing.T) *figure.Chart {
	t.Helper()
	var rows []results.Record
	for i := range 14 {
		for _, kernel := range []string{"v1_naive", "v5_quant"} {
			n, _ := stats.Rung(kernel)
			r := hand(kernel, 1024, 1e10*float64(n))
			r.N, r.Device = 100_000+128*i, "Vendor(R) Family(R) Model 1234X at 2.10 GHz, 2 cores of a shared virtual machine with a long name"
			r.Variant = "fused with an activation, " + kernel + ", and described at length"
			if kernel == "v1_naive" && i%4 == 3 {
				r.Status = results.Unsupported
			}
			rows = append(rows, r)
		}
	}
	return one(t, rows, Request{Kernels, "", "", "float32", nil, false})
}

// TestPictures compares with pictures of 72 dots an inch: half the size of the
// ones users see, which must be readable too.
func TestPictures(t *testing.T) {
	for name, p := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := figure.WritePNG(&got, p, 72); err != nil {
				t.Fatal(err)
			}
			path := "testdata/" + name + ".png"
			if goldentest.Updating() {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (run the test with -update to write it)", err)
			}
			// The tolerance is for floating point of other processors.
			same, err := cmpimg.EqualApprox("png", got.Bytes(), want, 0.1)
			if err != nil {
				t.Fatal(err)
			}
			if !same {
				t.Errorf("differs from %s; see %[1]s.got, -update accepts it", path)
				if err := os.WriteFile(path+".got", got.Bytes(), 0o644); err != nil {
					t.Log(err)
				}
			}
		})
	}
}

// TestPNG_Size holds the full size of a picture to the page.
func TestPNG_Size(t *testing.T) {
	var buf bytes.Buffer
	if err := figure.Write(&buf, pictures(t)["kernels"], figure.PNG); err != nil {
		t.Fatal(err)
	}
	img, kind, err := decode(buf.Bytes())
	if err != nil || kind != "png" {
		t.Fatal(kind, err)
	}
	if size := img.Bounds().Size(); size.X != 1440 || size.Y < 900 || size.Y > 1000 {
		t.Errorf("picture of %v pixels", size)
	}
}

// TestSVG reads a drawing back: it is XML, holds every name as text, and names
// fonts that viewers have.
func TestSVG(t *testing.T) {
	for name, p := range pictures(t) {
		var buf bytes.Buffer
		if err := figure.Write(&buf, p, figure.SVG); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(buf.String(), "font-family"); n == 0 || n != strings.Count(buf.String(), ",sans-serif") {
			t.Errorf("%s: a font without a fallback", name)
		}
		if strings.Contains(buf.String(), "NaN") || strings.Contains(buf.String(), "Inf") {
			t.Errorf("%s: a place that is no number", name)
		}
		var words []string
		for d := xml.NewDecoder(&buf); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if data, ok := token.(xml.CharData); ok {
				words = append(words, string(data))
			}
		}
		ch, ok := p.(*figure.Chart)
		if !ok {
			continue
		}
		for _, s := range ch.Series {
			named := func(w string) bool {
				return w == s.Label || len(w) > 20 && strings.HasSuffix(w, "…") && strings.HasPrefix(s.Label, strings.TrimSuffix(w, "…"))
			}
			if len(s.Points) > 0 && !slices.ContainsFunc(words, named) {
				t.Errorf("%s: the curve %q is not named", name, s.Label)
			}
		}
		if !slices.Contains(words, ch.Y.Label) || !slices.Contains(words, ch.X.Label) {
			t.Errorf("%s: an axis is not named", name)
		}
	}
}
