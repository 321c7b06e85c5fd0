package gemm

// The twins of what is in assembly for tiles.

// tilesTwin returns the loop at type strip with step as what one step adds to
// a sum, given the words of a row of a and those of a column of b.
func tilesTwin[C Sum](step func(s C, a, b *[tilesWords]uint32) C) strips[C] {
	return func(x *strip[C]) {
		for i := range x.rows {
			panel, row := i/tilesMR, i%tilesMR
			for j := range x.cols {
				var s C
				if x.accumulate {
					at := (panel+1)/2*x.sumPanel + panel/2*x.sumAfter
					s = *offset(x.sum, at+row*x.sumRow+j*wordBytes)
				}
				for l := range x.steps {
					var column [tilesWords]uint32
					for w := range column {
						column[w] = *offset(x.b, ((l*tilesWords+w)*tilesNR+j)*wordBytes)
					}
					words := offset(x.a, panel*x.panelA+row*x.rowA+l*x.stepA)
					s = step(s, (*[tilesWords]uint32)(span(words, tilesWords)), &column)
				}
				*offset(x.c, panel*x.panel+row*x.row+j*wordBytes) = s
			}
		}
	}
}

// stepBFloat16 models TDPBF16PS as Intel's manual writes it (SDM 2, under the
// name): products of the lower and of the upper halves are summed apart, from
// zero, each sum rounded once to nearest even, denormal numbers counting as
// zero wherever they come up; then both are added, and then to s.
func stepBFloat16(s float32, a, b *[tilesWords]uint32) float32 {
	const upper = 0xffff << 16
	var even, odd float32
	for w := range a {
		even = addProduct(even, a[w]<<16, b[w]<<16)
		odd = addProduct(odd, a[w]&upper, b[w]&upper)
	}
	return flush(flush(s) + flush(even+odd))
}

// stepInt8 is TDPBSSD: quads of signed bytes, exact modulo 2^32.
func stepInt8(s int32, a, b *[tilesWords]uint32) int32 {
	for w := range a {
		for u := 0; u < 32; u += 8 {
			s += int32(int8(a[w]>>u)) * int32(int8(b[w]>>u))
		}
	}
	return s
}

// packTilesA packs a panel of a for tiles in Go: element l of lane i comes from
// src[i*laneStride+l*kStride].
func packTilesA[S Source](dst []uint32, src []S, laneStride, kStride, lanes, k int, e encoding[S]) {
	field := 32 / e.ku
	for i := range tilesMR {
		for l := range ceil(k, e.ku*tilesWords) * tilesWords {
			w := uint32(0)
			for u := range e.ku {
				if at := l*e.ku + u; i < lanes && at < k {
					w |= e.bits(src[i*laneStride+at*kStride]) & uint32(1<<field-1) << (u * field)
				}
			}
			dst[(l/tilesWords*tilesMR+i)*tilesWords+l%tilesWords] = w
		}
	}
}

// packTilesGo packs a with packTilesA.
func packTilesGo[S Source](e encoding[S]) packer[S] {
	return panelByPanel(tilesMR, func(k int) int { return ceil(k, e.ku*tilesWords) * tilesMR * tilesWords },
		func(dst []uint32, src []S, laneStride, kStride, lanes, k int) {
			packTilesA(dst, src, laneStride, kStride, lanes, k, e)
		})
}
