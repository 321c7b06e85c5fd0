package figure

import (
	"image/color"
	"math"
)

// The palette of Okabe and Ito (Color Universal Design, 2008), which stays apart under the common
// kinds of colour blindness. Its yellow is left out: on white it cannot be read.
var (
	Black         = color.NRGBA{0x00, 0x00, 0x00, 0xff}
	Orange        = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}
	SkyBlue       = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	BluishGreen   = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	Blue          = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	Vermillion    = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	ReddishPurple = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}

	White    = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	Ink      = color.NRGBA{0x22, 0x22, 0x22, 0xff} // text
	SoftInk  = color.NRGBA{0x55, 0x55, 0x55, 0xff} // lesser text, roofs
	gridLine = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff}
	leader   = color.NRGBA{0xb4, 0xb4, 0xb4, 0xff}
)

// Shaded moves c towards white (by < 0) or black (by > 0), at most so far that
// a line still stands out from the page.
func Shaded(c color.NRGBA, by float64) color.NRGBA {
	const lightest, darkest = 0.45, 0.55
	by = math.Max(-1, math.Min(1, by))
	if by < 0 {
		return mix(c, White, -by*lightest)
	}
	return mix(c, Black, by*darkest)
}

// TextColor darkens c until it reads on white: a contrast of at least 4.5 to 1
// as WCAG 2.1 (success criterion 1.4.3) defines it.
func TextColor(c color.NRGBA) color.NRGBA {
	for step := 0.0; step < 1; step += 0.05 {
		if d := mix(c, Black, step); ContrastOnWhite(d) >= 4.5 {
			return d
		}
	}
	return Ink
}

// ContrastOnWhite is that of text in the colour, as WCAG defines it.
func ContrastOnWhite(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	luminance := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	return 1.05 / (luminance + 0.05)
}

// mix returns c with a share of other in it.
func mix(c, other color.NRGBA, share float64) color.NRGBA {
	m := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	return color.NRGBA{m(c.R, other.R), m(c.G, other.G), m(c.B, other.B), 0xff}
}
