package gemm

// Shape of a kernel on AMX tiles: 2×2 tiles of sums, each 16×16; a step is a
// whole row of a tile of a, 64 bytes.
const (
	tilesMR, tilesNR = 32, 32
	tilesWords       = 16
)

// A panels computes the rows×cols corner, 1 ≤ rows and 1 ≤ cols ≤ NR, of one
// column of register tiles over steps ≥ 1 steps of panels of a, which lie
// panelA words apart, and of one panel of b:
//
//	for i := range rows {
//		for j := range cols {
//			s := 0
//			if accumulate {
//				s = c[i*ldc+j]
//			}
//			for l := range steps {
//				for w := range Words {
//					s += dot(a[i/MR*panelA + (l*MR+i%MR)*Words + w], b[(l*Words+w)*NR + j])
//				}
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// The order of additions within a step is the kernel's. While it computes it
// asks for memory from next on to be brought into the L2 cache; next is an
// address only, never read.
type panels[C Sum] func(c *C, ldc, steps int, a, b *uint32, panelA int, next uintptr, rows, cols int, accumulate bool)

// tilesTwin returns the loop at type panels with step as what one step adds to
// a sum, given the words of a row of a and those of a column of b.
func tilesTwin[C Sum](step func(s C, a, b *[tilesWords]uint32) C) panels[C] {
	return func(c *C, ldc, steps int, a, b *uint32, panelA int, _ uintptr, rows, cols int, accumulate bool) {
		av := span(a, (rows-1)/tilesMR*panelA+steps*tilesMR*tilesWords)
		bv := span(b, steps*tilesNR*tilesWords)
		cv := span(c, (rows-1)*ldc+cols)
		for i := range rows {
			for j := range cols {
				var s C
				if accumulate {
					s = cv[i*ldc+j]
				}
				for l := range steps {
					var column [tilesWords]uint32
					for w := range column {
						column[w] = bv[(l*tilesWords+w)*tilesNR+j]
					}
					s = step(s, (*[tilesWords]uint32)(av[i/tilesMR*panelA+(l*tilesMR+i%tilesMR)*tilesWords:]), &column)
				}
				cv[i*ldc+j] = s
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

// packTilesA packs a for tiles in Go: element l of lane i comes from
// src[i*laneStride+l*kStride].
func packTilesA[S Source](dst []uint32, src []S, laneStride, kStride, extent, k int, e encoding[S]) {
	steps := ceil(k, e.ku*tilesWords)
	field := 32 / e.ku
	for i := range ceil(extent, tilesMR) * tilesMR {
		for l := range steps * tilesWords {
			w := uint32(0)
			for u := range e.ku {
				if at := l*e.ku + u; i < extent && at < k {
					w |= e.bits(src[i*laneStride+at*kStride]) & uint32(1<<field-1) << (u * field)
				}
			}
			panel := i / tilesMR * tilesMR * steps * tilesWords
			dst[panel+(l/tilesWords*tilesMR+i%tilesMR)*tilesWords+l%tilesWords] = w
		}
	}
}

// packTilesGo is packTilesA for rows and columns of memory.
func packTilesGo[S Source](e encoding[S]) packer[S] {
	return packer[S]{
		rows:    func(dst []uint32, src []S, ld, extent, k int) { packTilesA(dst, src, ld, 1, extent, k, e) },
		columns: func(dst []uint32, src []S, ld, extent, k int) { packTilesA(dst, src, 1, ld, extent, k, e) },
	}
}

// tilesCuts keeps a run of sixteen steps of a panel of b, 32 KiB, in L1 while
// panels of a come from L2; runs twice as deep or pieces of a twice as large
// were 10 to 20 % slower on the processor that this was measured on.
func tilesCuts() cuts {
	host := hostCuts()
	return cuts{steps: 16, bytes: min(host.bytes, 256<<10)}
}

// tilesDirectRows is the number of rows of a up to which a b that is read
// where it lies by vectors beats one packed for tiles. It is an estimate:
// tiles multiply several times as fast as vectors, so packing pays sooner than
// for them.
const tilesDirectRows = 16
