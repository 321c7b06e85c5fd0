package evict

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestShare: parts are the whole, each byte in one of them.
func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 1 << 16} {
		for _, of := range []int{1, 2, 3, 7, 200} {
			memory := make([]byte, n)
			for member := range of {
				for i := range share(memory, member, of) {
					share(memory, member, of)[i]++
				}
			}
			if bytes.Count(memory, []byte{1}) != n {
				t.Errorf("%d bytes in %d parts: not each once", n, of)
			}
		}
	}
}

// TestPart: what memory holds stays, at any alignment, up to the last byte of a page.
func TestPart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	memory := make([]byte, 1<<16)
	for i := range memory {
		memory[i] = byte(rng.Uint32())
	}
	want := bytes.Clone(memory)
	for range 50 {
		from := rng.IntN(len(memory))
		to := from + rng.IntN(len(memory)-from+1)
		memory[from]++
		want[from]++
		for member := range 3 {
			Part(memory[from:to], member, 3)
		}
		if !bytes.Equal(memory, want) {
			t.Fatalf("%d to %d: memory has changed", from, to)
		}
	}
	if readOthers() == readOthers()+1 {
		t.Error("reading reads nothing")
	}
}

// BenchmarkRead reads 256 KiB that are in caches, and that were put out of them.
func BenchmarkRead(b *testing.B) {
	memory := bytes.Repeat([]byte{1}, 256<<10) // written, or all pages are the system's one of zeros
	read := func() (sum byte) {
		for i := 0; i < len(memory); i += 64 {
			sum += memory[i]
		}
		return sum
	}
	for _, cold := range []bool{false, true} {
		name := "warm"
		if cold {
			name = "cold"
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(memory)))
			for b.Loop() {
				if cold {
					b.StopTimer()
					Part(memory, 0, 1)
					b.StartTimer()
				}
				read()
			}
		})
	}
}
