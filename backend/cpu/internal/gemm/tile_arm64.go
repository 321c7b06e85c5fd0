package gemm

func tileFloat32OnNEON(c *float32, ldc, steps int, a, b *uint32, bias *float32, _ uintptr, rows, cols int, accumulate bool) {
	if rows == neonMR && cols == neonNR && bias == nil {
		tileFloat32NEON(c, ldc, steps, a, b, accumulate)
		return
	}
	var sums [neonMR * neonNR]float32
	tileFloat32NEON(&sums[0], neonNR, steps, a, b, false)
	storeCorner(c, ldc, sums[:], bias, rows, cols, accumulate)
}

func tileQuadsOnNEON(c *int32, ldc, steps int, a, b *uint32, bias *int32, _ uintptr, rows, cols int, accumulate bool) {
	if rows == neonMR && cols == neonNR && bias == nil {
		tileQuadsNEON(c, ldc, steps, a, b, accumulate)
		return
	}
	var sums [neonMR * neonNR]int32
	tileQuadsNEON(&sums[0], neonNR, steps, a, b, false)
	storeCorner(c, ldc, sums[:], bias, rows, cols, accumulate)
}

// storeCorner writes what of a tile lies inside C.
func storeCorner[C Sum](c *C, ldc int, sums []C, bias *C, rows, cols int, accumulate bool) {
	cv := span(c, (rows-1)*ldc+cols)
	for i := range rows {
		to, from := cv[i*ldc:][:cols], sums[i*neonNR:][:cols]
		for j, s := range from {
			if bias != nil {
				s += span(bias, neonMR)[i]
			}
			if accumulate {
				s += to[j]
			}
			to[j] = s
		}
	}
}
