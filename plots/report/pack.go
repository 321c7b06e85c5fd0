package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"iter"

	"matladder/results"
)

// pack returns the rows as CSV, compressed with gzip and written in base64.
// Rows repeat themselves: this is a tenth of them or less. columns are those
// that they have beside the known ones.
func pack(rows iter.Seq2[*results.Record, error], columns []string) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	w, err := results.NewWriter(z, columns...)
	if err != nil {
		return "", err
	}
	for r, err := range rows {
		if err == nil {
			err = w.Write(r)
		}
		if err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
