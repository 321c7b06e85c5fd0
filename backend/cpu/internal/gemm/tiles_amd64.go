package gemm

import (
	"matladder/backend/cpu/internal/amx"
	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/probe"
)

// stripsAMX makes a strips of the loop at type strip for whole panels of a, of which there are
// some, and shapes as amx.Grid gives them for the rows of a panel and the columns of c: tall if
// more than 16 of the one, wide if more than 16 of the other. It calls it for the whole panels of a, and again for the rest,
// whose tiles have fewer rows.
func stripsAMX[C Sum](kernel func(x *strip[C])) strips[C] {
	return func(x *strip[C]) {
		whole, rest := x.rows/tilesMR, x.rows%tilesMR
		x.wide = x.cols > amx.Rows
		if whole > 0 {
			x.config, x.panels, x.tall = amx.Grid(tilesMR, x.cols), whole, true
			kernel(x)
		}
		if rest > 0 {
			if whole > 0 {
				x.sum = offset(x.sum, (whole+1)/2*x.sumPanel+whole/2*x.sumAfter)
				x.c, x.a = offset(x.c, whole*x.panel), offset(x.a, whole*x.panelA)
			}
			x.stream, x.copy = streamNot, nil // what was to be copied has been
			x.config, x.panels, x.tall = amx.Grid(rest, x.cols), 1, rest > amx.Rows
			kernel(x)
		}
	}
}

// amxKernels is the table of AVX-512 with the products that tiles multiply
// faster, by a measurement made once.
func amxKernels(host probe.HostInfo) *Kernels {
	k := avx512Kernels(host)
	k.ISA = AMX
	k.ThinBFloat16, k.ThinInt8 = k.BFloat16, k.Int8
	k.TilesBFloat16 = newTilesPath(host, formatBFloat16Tiles, stripsAMX(tilesBFloat16AMX), pack.BFloat16AMX)
	k.TilesInt8 = newTilesPath(host, formatInt8Tiles, stripsAMX(tilesInt8AMX), pack.Int8AMX)
	faster := tilesAreFaster()
	if faster.bfloat16 {
		k.BFloat16 = k.TilesBFloat16
		k.ThinBFloat16.direct.pays = min(k.ThinBFloat16.direct.pays, tilesDirectRows)
	}
	if faster.int8 {
		k.Int8 = k.TilesInt8
		k.ThinInt8.direct.pays = min(k.ThinInt8.direct.pays, tilesDirectRows)
		k.ThinInt8.kernel.gemv.outerWords = 12 // beyond, they multiply faster than it
	}
	return k
}

func newTilesPath[S Source, C Sum](host probe.HostInfo, format string, kernel strips[C], sides pack.Sides[S]) *MicroKernels[S, C] {
	s := shape[C]{isa: AMX, mr: tilesMR, nr: tilesNR}
	p := newPath(host, s, format, sides)
	p.kernel.strips, p.Words, p.blocking = kernel, tilesWords, tilesBlocking(host)
	return p
}
