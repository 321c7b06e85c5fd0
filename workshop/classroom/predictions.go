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

	"matladder/internal/files"
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
