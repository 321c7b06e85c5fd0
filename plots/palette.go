package plots

import (
	"image/color"
	"math"

	"matladder/stats"

	"matladder/results"
)

// The palette of Okabe and Ito (Color Universal Design, 2008), which stays
// apart under the common kinds of colour blindness. Its yellow is left out:
// on white it cannot be read.
var (
	black         = color.NRGBA{0x00, 0x00, 0x00, 0xff}
	orange        = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}
	skyBlue       = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	bluishGreen   = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	blue          = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion    = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	reddishPurple = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}
)

var (
	white    = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink      = color.NRGBA{0x22, 0x22, 0x22, 0xff} // text
	softInk  = color.NRGBA{0x55, 0x55, 0x55, 0xff} // lesser text, roofs
	gridLine = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff}
	leader   = color.NRGBA{0xb4, 0xb4, 0xb4, 0xff}
)

// rungColor is the colour of kernel vN at N-1, in every kind of picture.
var rungColor = []color.NRGBA{reddishPurple, orange, skyBlue, blue, vermillion}

// peerColor are the colours of peers, from Paul Tol's muted scheme (2021): none is
// that of a rung.
var peerColor = map[string]color.NRGBA{
	"openblas": {0x44, 0xaa, 0x99, 0xff},
	"onednn":   {0x33, 0x22, 0x88, 0xff},
	"blis":     {0x99, 0x99, 0x33, 0xff},
	"mkl":      {0x88, 0x22, 0x55, 0xff},
}

// A Hue tells apart series of one kernel, such as ways to spread a product; from 1.
type Hue int

// hueColor is the colour of hue N at N-1.
var hueColor = []color.NRGBA{bluishGreen, blue, orange, vermillion, reddishPurple, skyBlue}

// kernelColor returns the colour of a kernel by its name: the baseline is
// black, v1 to v5 and peers have a colour each, higher rungs a darker one, anything
// else is green.
func kernelColor(kernel string) color.NRGBA {
	if kernel == results.Baseline {
		return black
	}
	if n, ok := stats.Rung(kernel); ok {
		return shaded(rungColor[(n-1)%len(rungColor)], min(1, 0.7*float64((n-1)/len(rungColor))))
	}
	if c, ok := peerColor[kernel]; ok {
		return c
	}
	return bluishGreen
}

// KernelColors returns the colour that a kernel, the baseline or a peer has in
// every kind of picture, and a darker one for text of it on white.
func KernelColors(kernel string) (line, text color.NRGBA) {
	return kernelColor(kernel), textColor(kernelColor(kernel))
}

// shaded moves c towards white (by < 0) or black (by > 0), at most so far that
// a line still stands out from the page.
func shaded(c color.NRGBA, by float64) color.NRGBA {
	const lightest, darkest = 0.45, 0.55
	by = math.Max(-1, math.Min(1, by))
	if by < 0 {
		return mix(c, white, -by*lightest)
	}
	return mix(c, black, by*darkest)
}

// textColor darkens c until it reads on white: a contrast of at least 4.5 to 1
// as WCAG 2.1 (success criterion 1.4.3) defines it.
func textColor(c color.NRGBA) color.NRGBA {
	for step := 0.0; step < 1; step += 0.05 {
		if d := mix(c, black, step); contrastOnWhite(d) >= 4.5 {
			return d
		}
	}
	return ink
}

func contrastOnWhite(c color.NRGBA) float64 {
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
