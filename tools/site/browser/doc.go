// Package browser checks exercises of the workshop, and shows tile programs, where there is no
// Go compiler: in a page. Package wasm of it is the program that a page runs.
//
//  1. Go source is type-checked (go/types), so that mistakes have the compiler's words and
//     places.
//  2. Source that has no mistake is interpreted (yaegi), with a mark in front of each
//     statement: a tile program then names lines of the source, as a compiled one does.
//  3. Check hands what the source declares to package workshop, which checks it as it checks
//     compiled exercises. Play shows what a tile program is, costs and becomes.
//
// Source may import what exports has: math, matladder/problem and matladder/tile. It may use no
// generic types of its own, which the interpreter lacks.
package browser

//go:generate go test -run TestExports -update .
