package gemm

import "unsafe"

// The routines below are written by asmgen. ld is in bytes, stride in words.
//
// pack…Rows… transposes squares: blocks times as many steps as a vector has
// words, from rows of src that become lanes of a panel stride wide. The
// number in the name is that of the lanes written; those beyond lanes are 0:
//
//	for l := range blocks * wordsOfVector {
//		for i := range number {
//			w := uint32(0)
//			if i < lanes {
//				w = word(src[i*ld + l*KU]) // KU consecutive elements
//			}
//			dst[l*stride+i] = w ^ flip
//		}
//	}
//
// pack…Columns… copies steps of KU rows to a panel as wide as two vectors:
//
//	for l := range steps {
//		for i := range 2*wordsOfVector {
//			dst[l*2*wordsOfVector+i] = word(src[(l*KU)*ld+i], …, src[(l*KU+KU-1)*ld+i]) ^ flip
//		}
//	}

//go:noescape
func packFloat32Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packFloat32Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packFloat32ColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packBFloat16Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packBFloat16Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packBFloat16ColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packPairsBFloat16ColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packQuadsRows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int, flip uint64)

//go:noescape
func packQuadsRows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int, flip uint64)

//go:noescape
func packQuadsColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int, flip uint64)

//go:noescape
func packPairsInt8Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsInt8Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsInt8ColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packPairsUint8Rows12AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsUint8Rows16AVX512(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsUint8ColumnsAVX512(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packFloat32Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packFloat32Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packFloat32ColumnsAVX2(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packBFloat16Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packBFloat16Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packBFloat16ColumnsAVX2(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packPairsInt8Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsInt8Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsInt8ColumnsAVX2(dst *uint32, src unsafe.Pointer, ld, steps int)

//go:noescape
func packPairsUint8Rows6AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsUint8Rows8AVX2(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int)

//go:noescape
func packPairsUint8ColumnsAVX2(dst *uint32, src unsafe.Pointer, ld, steps int)
