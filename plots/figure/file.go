package figure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/files"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Format is a kind of picture file.
type Format string

// The formats.
const (
	PNG Format = "png"
	SVG Format = "svg"
)

// Formats lists the formats that exist.
var Formats = []Format{PNG, SVG}

// darkStyle turns light and dark round on a dark page and leaves the hues.
const darkStyle = "<style>@media screen and (prefers-color-scheme:dark){svg{filter:invert(.93) hue-rotate(180deg)}}</style>\n"

// Write draws p in the given format to w.
func Write(w io.Writer, p Picture, f Format) error {
	switch f {
	case PNG:
		const dpi = 144
		return WritePNG(w, p, dpi)
	case SVG:
		c := vgsvg.New(Size(p))
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
		svg = strings.Replace(svg, "<g ", darkStyle+"<g ", 1)
		_, err := io.WriteString(w, svg)
		return err
	}
	return fmt.Errorf("unknown picture format %q (known: png, svg)", f)
}

// WritePNG draws p to w with a number of dots an inch.
func WritePNG(w io.Writer, p Picture, dpi int) error {
	c := vgimg.NewWith(vgimg.UseWH(Size(p)), vgimg.UseDPI(dpi))
	if err := drawOn(c, p); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// Save draws pictures to <folder>/<Name>.<format>, and tells each path. A file is replaced as a
// whole or not at all; an error ends it, as the next one would fail alike.
func Save(pictures []Picture, folder string, f Format, told func(path string)) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for the pictures: %w", err)
	}
	for _, p := range pictures {
		var picture bytes.Buffer
		if err := Write(&picture, p, f); err != nil {
			return err
		}
		path := filepath.Join(folder, FileSafe(p.Head().Name)+"."+string(f))
		if err := files.Replace(path, picture.Bytes()); err != nil {
			return err
		}
		told(path)
	}
	return nil
}

// maxName is the longest name of a file without its ending, well below the 255 bytes
// of file systems.
const maxName = 120

// FileSafe keeps what every file system takes in a name.
func FileSafe(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '-'
	}, s)
	if len(s) <= maxName {
		return s
	}
	sum := sha256.Sum256([]byte(s)) // tells apart what begins alike
	return s[:maxName-9] + "-" + hex.EncodeToString(sum[:4])
}

// drawOn draws p on c. It returns an error if a place is no number or lies far off the page,
// and leaves out what is there: a rasterizer would work on such a path for hours.
func drawOn(c vg.CanvasSizer, p Picture) error {
	f := &finite{CanvasSizer: c}
	Draw(p, draw.New(f))
	if f.leftOut > 0 {
		return fmt.Errorf("%s cannot be drawn: %d of its lines, areas or words have a place that is no number or lies far off the page", p.Head().Name, f.leftOut)
	}
	return nil
}

// finite is a canvas that leaves out and counts what placed refuses.
type finite struct {
	vg.CanvasSizer
	leftOut int // lines, areas, words and images
}

// placed reports whether all points are on or near a page, and counts a refusal in leftOut.
func (f *finite) placed(points ...vg.Point) bool {
	const farthest = 1e6 // in points
	for _, p := range points {
		if !(math.Abs(float64(p.X)) <= farthest && math.Abs(float64(p.Y)) <= farthest) {
			f.leftOut++
			return false
		}
	}
	return true
}

func (f *finite) path(p vg.Path) bool {
	return !slices.ContainsFunc(p, func(c vg.PathComp) bool { return !f.placed(c.Pos, vg.Point{X: c.Radius}) || !f.placed(c.Control...) })
}

func (f *finite) Stroke(p vg.Path) {
	if f.path(p) {
		f.CanvasSizer.Stroke(p)
	}
}

func (f *finite) Fill(p vg.Path) {
	if f.path(p) {
		f.CanvasSizer.Fill(p)
	}
}

func (f *finite) FillString(face font.Face, at vg.Point, s string) {
	if f.placed(at) {
		f.CanvasSizer.FillString(face, at, s)
	}
}

func (f *finite) DrawImage(r vg.Rectangle, img image.Image) {
	if f.placed(r.Min, r.Max) {
		f.CanvasSizer.DrawImage(r, img)
	}
}
