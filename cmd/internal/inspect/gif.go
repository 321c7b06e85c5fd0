package inspect

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"matladder/model/traverse"
)

// The palette of Okabe and Ito (Color Universal Design, 2008), with two tints of
// its sky blue for what was moved before.
var palette = color.Palette{
	color.RGBA{0xff, 0xff, 0xff, 0xff}, // page
	color.RGBA{0x22, 0x22, 0x22, 0xff}, // ink
	color.RGBA{0xb4, 0xb4, 0xb4, 0xff}, // line
	color.RGBA{0xcf, 0xe8, 0xf7, 0xff}, // once
	color.RGBA{0x8f, 0xc7, 0xea, 0xff}, // often
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // kept
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // first
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // again
}

// Indices of palette; kept + a move is the colour of the current block.
const (
	pageColour = iota
	ink
	line
	once
	often
	kept
)

// The sizes of the picture, in pixels.
const (
	maxWidth, maxHeight = 800, 560
	minHeight           = 180 // of the counters
	margin, gap         = 16, 28
	textWidth           = 210 // kept free at the left, for the counters
	lineHeight, letter  = 16, 7
)

// animate writes the recording of a matmul as an animated GIF: a left of o and b
// above it, so that rows and columns line up. The last frame stays longer.
func animate(ctx context.Context, w io.Writer, r *traverse.Recording) error {
	refs := r.Programs[0].Refs
	if len(r.Programs) != 1 || len(refs) != 3 {
		return fmt.Errorf("gif shows one program on a, b and o; --format html shows any")
	}
	places := arrange(refs)
	corner := places[2].Max // o is last in both directions
	bounds := image.Rect(0, 0, corner.X+margin, max(minHeight, corner.Y+margin))
	seen := make([]map[[2]int]int, len(refs))
	for i := range seen {
		seen[i] = map[[2]int]int{}
	}
	var g gif.GIF
	var last *image.Paletted
	for n, step := range r.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		frame := image.NewPaletted(bounds, palette)
		for i, ref := range refs {
			for block, times := range seen[i] {
				fill(frame, cellOf(ref, places[i], block), uint8(min(once+times-1, often)))
			}
			block := [2]int(step.Blocks[i])
			fill(frame, cellOf(ref, places[i], block), uint8(kept+step.Moves[i]))
			if step.Moves[i] > 0 {
				seen[i][block]++
			}
			outline(frame, ref, places[i])
			name := fmt.Sprintf("%s %dx%d", ref.Name, ref.Array[0], ref.Array[1])
			x := places[i].Min.X
			if i == 0 { // to the left, where it cannot reach o's
				x = min(x, places[i].Max.X-letter*len(name))
			}
			write(frame, x, places[i].Min.Y-5, name)
		}
		caption(frame, r, &step)
		delay := max(4, 1200/len(r.Steps)) // hundredths of a second
		if n == len(r.Steps)-1 {
			delay = 300
		}
		part := changed(last, frame)
		g.Image = append(g.Image, frame.SubImage(part).(*image.Paletted))
		g.Delay = append(g.Delay, min(delay, 300))
		last = frame
	}
	return gif.EncodeAll(w, &g)
}

// arrange places a, b and o, in the order of refs.
func arrange(refs []traverse.RecordedRef) []image.Rectangle {
	m, k, n := refs[0].Array[0], refs[0].Array[1], refs[1].Array[1]
	scale := min(float64(maxWidth-textWidth-2*margin-gap)/float64(k+n), float64(maxHeight-3*margin-gap)/float64(k+m))
	px := func(x int) int { return max(14, int(float64(x)*scale)) }
	left := margin + textWidth
	right, top, low := left+px(k)+gap, 2*margin, 2*margin+px(k)+gap
	box := func(x, y, w, h int) image.Rectangle { return image.Rect(x, y, x+w, y+h) }
	return []image.Rectangle{box(left, low, px(k), px(m)), box(right, top, px(n), px(k)), box(right, low, px(n), px(m))}
}

// cellOf is where a block is drawn.
func cellOf(ref traverse.RecordedRef, at image.Rectangle, block [2]int) image.Rectangle {
	edge := func(d, b, size int) int { return min(b*ref.Block[d], ref.Array[d]) * size / ref.Array[d] }
	y0, y1 := edge(0, block[0], at.Dy()), edge(0, block[0]+1, at.Dy())
	x0, x1 := edge(1, block[1], at.Dx()), edge(1, block[1]+1, at.Dx())
	return image.Rect(x0, y0, max(x1, x0+1), max(y1, y0+1)).Add(at.Min)
}

func fill(m *image.Paletted, r image.Rectangle, c uint8) {
	draw.Draw(m, r, image.NewUniform(palette[c]), image.Point{}, draw.Src)
}

// outline draws the edges of the array, and of its blocks where they are not too small to see.
func outline(m *image.Paletted, ref traverse.RecordedRef, at image.Rectangle) {
	if first := cellOf(ref, at, [2]int{}); min(first.Dx(), first.Dy()) > 4 {
		for b := 1; b*ref.Block[0] < ref.Array[0]; b++ {
			y := cellOf(ref, at, [2]int{b, 0}).Min.Y
			fill(m, image.Rect(at.Min.X, y, at.Max.X, y+1), line)
		}
		for b := 1; b*ref.Block[1] < ref.Array[1]; b++ {
			x := cellOf(ref, at, [2]int{0, b}).Min.X
			fill(m, image.Rect(x, at.Min.Y, x+1, at.Max.Y), line)
		}
	}
	o := at.Inset(-1)
	for _, r := range []image.Rectangle{
		{o.Min, image.Pt(o.Max.X, at.Min.Y)}, {image.Pt(o.Min.X, at.Max.Y), o.Max},
		{o.Min, image.Pt(at.Min.X, o.Max.Y)}, {image.Pt(at.Max.X, o.Min.Y), o.Max},
	} {
		fill(m, r, ink)
	}
}

// caption writes the counters and the key of colours.
func caption(m *image.Paletted, r *traverse.Recording, s *traverse.RecordedStep) {
	ids := ""
	for d, a := range r.Programs[0].Axes {
		ids += fmt.Sprintf("%s=%d ", a.Name, s.IDs[d])
	}
	c := s.Counters
	y := margin
	for _, text := range []string{
		r.Programs[0].Name + " " + ids,
		fmt.Sprintf("step %d of %d", c.GridSteps, r.Totals.GridSteps),
		fmt.Sprintf("loads %d, skipped %d", c.BlocksLoaded, c.LoadsSkipped),
		"moved " + traverse.Bytes(c.BytesMoved) + " of " + traverse.Bytes(r.Totals.BytesMoved),
		"moved again " + traverse.Bytes(c.BytesReread),
		"fast memory " + traverse.FastMemory(c.FastBytes),
	} {
		write(m, margin, y, text)
		y += lineHeight
	}
	for i, text := range []string{"kept", "moved", "moved again"} {
		fill(m, image.Rect(margin, y-9, margin+10, y+1), uint8(kept+i))
		write(m, margin+16, y, text)
		y += lineHeight
	}
}

func write(m *image.Paletted, x, y int, text string) {
	d := font.Drawer{Dst: m, Src: image.NewUniform(palette[ink]), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(text)
}

// changed is the smallest part of frame that differs from the one before.
func changed(before, frame *image.Paletted) image.Rectangle {
	if before == nil {
		return frame.Rect
	}
	var r image.Rectangle
	for y := range frame.Rect.Dy() {
		for x := range frame.Rect.Dx() {
			if i := y*frame.Stride + x; frame.Pix[i] != before.Pix[i] {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if r.Empty() {
		r = image.Rect(0, 0, 1, 1)
	}
	return r
}
