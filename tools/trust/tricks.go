package main

import (
	"encoding/binary"
	"math"

	"matladder/backend/foreign/library"
	"matladder/tile"
)

// multiply computes rows of o = a b.
func multiply(sizes []int, arrays []tile.Tensor, from, to int) {
	k, n := sizes[1], sizes[2]
	a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
	for i := from; i < to; i++ {
		row := o[i*n:][:n]
		clear(row)
		for l, x := range a[i*k:][:k] {
			for j, y := range b[l*n:][:n] {
				row[j] += x * y
			}
		}
	}
}

// inGo are functions in Go. They run in the process that judges them, and each is made anew.
func inGo() []trick {
	plain := func(sizes []int, arrays []tile.Tensor) error {
		multiply(sizes, arrays, 0, sizes[0])
		return nil
	}
	// memo keeps outputs by what key says of arrays; ok is false where it computes.
	memo := func(key func(arrays []tile.Tensor) (k [4]uint64, ok bool)) library.Call {
		kept := map[[4]uint64][]byte{}
		return func(sizes []int, arrays []tile.Tensor) error {
			k, ok := key(arrays)
			if o, known := kept[k]; known && ok {
				copy(arrays[2].Data, o)
				return nil
			}
			multiply(sizes, arrays, 0, sizes[0])
			if ok {
				kept[k] = append([]byte(nil), arrays[2].Data...)
			}
			return nil
		}
	}
	stale := func(arrays []tile.Tensor) bool { return math.IsNaN(arrays[2].At(0)) }
	var calls int
	done := make(chan struct{}, 1)
	done <- struct{}{}
	list := of("Go", "+honest: computes", "memo_ends: keeps outputs by first and last elements", "last_result: computes where the output was overwritten",
		"half: computes half of the output in each launch", "goroutine: returns while a goroutine computes", "probe: computes where inputs are integers")
	for i, call := range []library.Call{
		plain,
		memo(func(arrays []tile.Tensor) (k [4]uint64, ok bool) {
			for i := range 2 {
				d := arrays[i].Data
				k[2*i], k[2*i+1] = binary.LittleEndian.Uint64(d), binary.LittleEndian.Uint64(d[len(d)-8:])
			}
			return k, true
		}),
		func(sizes []int, arrays []tile.Tensor) error {
			if stale(arrays) {
				return plain(sizes, arrays)
			}
			return nil
		},
		func(sizes []int, arrays []tile.Tensor) error {
			m := sizes[0]
			if calls++; stale(arrays) || math.IsNaN(arrays[2].At(arrays[2].Len()-1)) {
				return plain(sizes, arrays)
			}
			multiply(sizes, arrays, calls%2*(m/2), (1+calls%2)*(m/2))
			return nil
		},
		func(sizes []int, arrays []tile.Tensor) error {
			<-done
			go func() {
				multiply(sizes, arrays, 0, sizes[0])
				done <- struct{}{}
			}()
			return nil
		},
		memo(func(arrays []tile.Tensor) (k [4]uint64, ok bool) {
			x := arrays[0].At(1)
			return k, x != math.Trunc(x)
		}),
	} {
		list[i].call = call
	}
	return list
}
