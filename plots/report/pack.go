package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"

	"matladder/results"
)

// pack returns the rows as CSV, compressed with gzip and written in base64.
// Rows repeat themselves: this is a tenth of them or less.
func pack(rows []results.Record) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	if err := results.Write(z, rows); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
