package classroom

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/results"
	"matladder/stats"
	"matladder/workshop"
)

// A Prediction is what somebody wrote down ahead of a run.
type Prediction struct {
	At     time.Time
	Lesson int
	Text   string
}

const (
	mostText  = 400     // runes of a prediction
	mostFile  = 1 << 20 // bytes of a file of them
	mostLines = 5000
)

// NewPrediction checks a text.
func NewPrediction(lesson int, text string, at time.Time) (Prediction, error) {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case lesson < 0 || lesson >= len(workshop.All):
		return Prediction{}, fmt.Errorf("no lesson %d, only 0 to %d", lesson, len(workshop.All)-1)
	case text == "":
		return Prediction{}, errors.New("a prediction has words")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return Prediction{}, errors.New("a prediction is plain text")
	case utf8.RuneCountInString(text) > mostText:
		return Prediction{}, fmt.Errorf("a prediction of %d letters: at most %d", utf8.RuneCountInString(text), mostText)
	}
	return Prediction{at.UTC().Truncate(time.Second), lesson, text}, nil
}

// ReadPredictions reads a file of predictions; a missing one holds none. A line
// that is none is an error that names it.
func ReadPredictions(path string) ([]Prediction, error) {
	text, err := files.ReadRegular(path, mostFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePredictions(strings.NewReader(string(text)), path)
}

func parsePredictions(r io.Reader, name string) ([]Prediction, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = 3
	var list []Prediction
	for {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		at, timeErr := time.Parse(time.RFC3339, row[0])
		lesson, numberErr := strconv.Atoi(row[1])
		p, err := NewPrediction(lesson, row[2], at)
		if err := errors.Join(timeErr, numberErr, err); err != nil {
			n, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: no prediction (time, lesson, text): %s", name, n, oneLine([]byte(err.Error())))
		}
		if list = append(list, p); len(list) > mostLines {
			return nil, fmt.Errorf("%s: more than %d predictions", name, mostLines)
		}
	}
}

// AddPrediction writes p behind those of the file, which is whole before and after.
func AddPrediction(path string, p Prediction) error {
	list, err := ReadPredictions(path)
	if err != nil {
		return err
	}
	return files.Write(path, predictionsCSV(append(list, p)))
}

func predictionsCSV(list []Prediction) []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, p := range list {
		w.Write([]string{p.At.UTC().Format(time.RFC3339), strconv.Itoa(p.Lesson), p.Text})
	}
	w.Flush() // a strings.Builder takes all
	return []byte(b.String())
}

// measured are the points of a machine, for Answers.
type measured []stats.Summary

// find is fastest of a kernel for the first of several products that was measured.
func (m measured) find(kernel, dtype string, sizes ...[3]int) *stats.Summary {
	for _, size := range sizes {
		if s := m.fastest(kernel, dtype, func(s *stats.Summary) bool { return [3]int{s.M, s.K, s.N} == size }); s != nil {
			return s
		}
	}
	return nil
}

// attention is fastest of a kernel for one attention.
func (m measured) attention(kernel, dtype, size, options string) *stats.Summary {
	return m.fastest(kernel, dtype, func(s *stats.Summary) bool {
		return s.FamilyName() == "attention" && s.Size() == size && s.Options == options
	})
}

// fastest is the fastest point of a kernel for the problem that is asked, in the newest
// file that has one; nil if none was measured.
func (m measured) fastest(kernel, dtype string, asked func(*stats.Summary) bool) *stats.Summary {
	var best *stats.Summary
	for i := range m {
		s := &m[i]
		if s.Kernel != kernel || s.DtypeA != dtype || !asked(s) || s.Status != results.OK || s.Mode != results.Measured || s.Interpreted() || !s.Rate.Known() {
			continue
		}
		if best == nil || s.Pos.File != best.Pos.File && s.Latest.After(best.Latest) || s.Pos.File == best.Pos.File && s.Rate.Median > best.Rate.Median {
			best = s
		}
	}
	return best
}

func cube(n int) [3]int { return [3]int{n, n, n} }

// An Answer is what came out, and when it was measured; at no time if it needs none.
type Answer struct {
	Text string
	At   time.Time
}

// measuredAnswer writes figures of a point, and says if they are of low confidence.
func measuredAnswer(s *stats.Summary, format string, args ...any) Answer {
	text := fmt.Sprintf(format, args...)
	if markOf(s) != "" {
		text += " (not to be relied on: the machine was disturbed)"
	}
	return Answer{text, s.Latest}
}

// Answers says what came out of what a lesson's page has people predict, as far as the
// points tell.
func Answers(lesson int, points []stats.Summary) []Answer {
	m := measured(points)
	list := each.Of(workshop.All[lesson].Answers, func(text string) Answer { return Answer{Text: text} })
	ratio := func(what string, a, b *stats.Summary) {
		if a != nil && b != nil && a.Pos.File == b.Pos.File {
			list = append(list, measuredAnswer(a, "%s: %s times as fast, at %s in %s", what, words.Figure(a.Rate.Median/b.Rate.Median), a.Size(), a.DtypeA))
		}
	}
	switch lesson {
	case 0:
		if s := m.find("v1_naive", "float32", cube(1024), cube(2048), cube(512)); s != nil && s.PeakFLOPs > 0 {
			list = append(list, measuredAnswer(s, "the peak is %s GFLOP/s, and v1 reaches %s %% of it at %s", words.Figure(s.PeakFLOPs/1e9), words.Figure(s.PercentOfPeak.Median), s.Size()))
		}
	case 2:
		if s := m.find("v2_parallel", "float32", cube(1024), cube(2048), cube(512)); s != nil && s.OverBelow.Known() {
			list = append(list, measuredAnswer(s, "v2 is %s times as fast as v1 at %s in float32", words.Figure(s.OverBelow.Median), s.Size()))
		}
	case 3:
		if s := m.find("v3_block", "float32", cube(512), cube(1024), cube(256)); s != nil && s.OverBelow.Known() {
			list = append(list, measuredAnswer(s, "v3 is %s times as fast as v2 at %s in float32", words.Figure(s.OverBelow.Median), s.Size()))
		} else if a := m.find("v3_block", "float32", cube(1024), cube(256)); a != nil {
			ratio("v3 beside v2", a, m.find("v2_parallel", "float32", [3]int{a.M, a.K, a.N}))
		}
	case 4, 7:
		n := map[int]int{4: 1024, 7: 512}[lesson]
		if s := m.find("v4_optblock", "float32", cube(n)); s != nil {
			list = append(list, measuredAnswer(s, "%s is the fastest of v4's block shapes that were measured at %d", s.Blocks(), n))
		}
	case 5:
		for _, k := range []int{256, 1024, 4096} {
			a, b := m.find("v4_optblock", "bfloat16", [3]int{512, k, 512}), m.find("v5_quant", "bfloat16", [3]int{512, k, 512})
			if a != nil && b != nil && a.RelErr.Known && b.RelErr.Value > 0 {
				list = append(list, Answer{fmt.Sprintf("at k = %d v4's rel_err is %s times v5's", k, words.Figure(a.RelErr.Value/b.RelErr.Value)), a.Latest})
			}
		}
		for _, dtype := range []string{"bfloat16", "int8"} {
			if a := m.find("v5_quant", dtype, [3]int{512, 1024, 512}, cube(1024)); a != nil {
				ratio(dtype+" beside float32", a, m.find("v5_quant", "float32", [3]int{a.M, a.K, a.N}))
			}
		}
	case 8:
		if first := m.attention("v1_scores", "float32", "1024", "causal"); first != nil {
			best := first
			for _, kernel := range []string{"v2_rows", "v3_flash", "v4_skip"} {
				if s := m.attention(kernel, "float32", "1024", "causal"); s != nil && s.Pos.File == best.Pos.File && s.Rate.Median > best.Rate.Median {
					best = s
				}
			}
			ratio("the fastest is "+best.Kernel+", beside v1", best, first)
		}
	case 9:
		ratio("v5 beside v4", m.attention("v5_split", "bfloat16", "1×8192:heads=32:group=4:dim=128", ""), m.attention("v4_skip", "bfloat16", "1×8192:heads=32:group=4:dim=128", ""))
	case 11:
		for _, rows := range []int{1, 16} {
			size := [3]int{rows, 1024, 1024}
			weights := m.fastest("v6_mx", "bfloat16", func(s *stats.Summary) bool {
				return [3]int{s.M, s.K, s.N} == size && s.DtypeB == "float4_e2m1fn"
			})
			ratio("weights of MXFP4 beside bfloat16", weights, m.find("v5_quant", "bfloat16", size))
		}
		int8 := m.find("v5_quant", "int8", [3]int{16, 1024, 1024})
		mxfp4 := m.fastest("v6_mx", "float4_e2m1fn", func(s *stats.Summary) bool {
			return s.M == 16 && strings.HasPrefix(s.Quant, "per_block32")
		})
		if mxfp4 != nil && int8 != nil && mxfp4.QuantRelErr.Known && int8.QuantRelErr.Value > 0 {
			list = append(list, Answer{fmt.Sprintf("MXFP4 loses %s times what int8 does", words.Figure(mxfp4.QuantRelErr.Value/int8.QuantRelErr.Value)), mxfp4.Latest})
		}
	}
	return list
}
