package plots

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"matladder/internal/files"

	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Format is a kind of picture file.
type Format string

const (
	PNG Format = "png"
	SVG Format = "svg"
)

// Formats lists the formats that exist.
var Formats = []Format{PNG, SVG}

// Write draws p in the given format to w.
func Write(w io.Writer, p Picture, f Format) error {
	switch f {
	case PNG:
		return writePNG(w, p, pngDPI)
	case SVG:
		c := vgsvg.New(p.Size())
		if err := drawOn(c, p); err != nil {
			return err
		}
		var text bytes.Buffer
		if _, err := c.WriteTo(&text); err != nil {
			return err
		}
		// gonum names its own font only; viewers without it would fall back to
		// a serif face of other widths.
		svg := strings.ReplaceAll(text.String(), "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
		_, err := io.WriteString(w, svg)
		return err
	}
	return fmt.Errorf("unknown picture format %q (known: png, svg)", f)
}

func writePNG(w io.Writer, p Picture, dpi int) error {
	c := vgimg.NewWith(vgimg.UseWH(p.Size()), vgimg.UseDPI(dpi))
	if err := drawOn(c, p); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// Save draws p to <folder>/<Name>.<format> and returns that path. The file is
// replaced as a whole or not at all.
func Save(p Picture, folder string, f Format) (path string, err error) {
	var picture bytes.Buffer
	if err := Write(&picture, p, f); err != nil {
		return "", err
	}
	path = filepath.Join(folder, fileSafe(p.Head().Name)+"."+string(f))
	return path, files.Replace(path, picture.Bytes())
}
