package gemm

import "unsafe"

// The routines below are written by asmgen. ld is in bytes, stride in words;
// units, rows and panels are at least 1. Numbers in names are those of lanes
// written; those beyond lanes are zero.
//
// pack…Rows… transposes rows of src to lanes of a panel stride wide. units
// counts bytes for Words and elements for the others, perWord of them being
// one word; without AVX-512 they are whole squares, as many words as a vector
// has:
//
//	for l := range ceil(units, perWord) {
//		for i := range number {
//			w := uint32(0)
//			if i < lanes {
//				w = word(src[i*ld + l*perWord…]) // 0 beyond units
//			}
//			dst[l*stride+i] = w ^ flip
//		}
//	}
//
// pack…Columns… folds KU rows each to one step of panels number wide, which lie
// panel words apart. Without AVX-512 it reads whole vectors from each row, whatever
// lanes is; with it, it prefetches what lies below bytes past
// each row that it reads (without, it ignores below):
//
//	for p := range panels {
//		for l := range ceil(rows, KU) {
//			for i := range number {
//				w := uint32(0)
//				if i < lanes {
//					w = word(src[(l*KU)*ld+p*number+i], …, src[(l*KU+KU-1)*ld+p*number+i]) // 0 beyond rows
//				}
//				dst[p*panel+l*number+i] = w ^ flip
//			}
//		}
//	}

//go:noescape
func packWordsRows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int, flip uint64)

//go:noescape
func packWordsRows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int, flip uint64)

//go:noescape
func packBFloat16Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packBFloat16Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsInt8Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsInt8Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsUint8Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsUint8Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packFloat32Columns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packFloat32Columns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packBFloat16Columns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packBFloat16Columns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsBFloat16Columns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsBFloat16Columns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsInt8Columns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsInt8Columns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsUint8Columns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsUint8Columns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packQuadsColumns12AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int, flip uint64)

//go:noescape
func packQuadsColumns32AVX512(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int, flip uint64)

//go:noescape
func packWordsRows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int, flip uint64)

//go:noescape
func packWordsRows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int, flip uint64)

//go:noescape
func packBFloat16Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packBFloat16Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsInt8Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsInt8Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsUint8Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packPairsUint8Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

//go:noescape
func packFloat32Columns6AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packFloat32Columns16AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packBFloat16Columns6AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packBFloat16Columns16AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsInt8Columns6AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsInt8Columns16AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsUint8Columns6AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packPairsUint8Columns16AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)

//go:noescape
func packQuadsColumns6AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int, flip uint64)

//go:noescape
func packQuadsColumns16AVX2(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int, flip uint64)
