// Package ex10 is the solution of exercise 10.
package ex10

const (
	flops = 197e12 // FLOP/s
	link  = 43e9   // bytes/s in one direction
	start = 4.4e-6 // seconds
	hop   = 0.5e-6 // seconds
)

// Gather: a chip has one part already, so all others come in over its links.
func Gather(bytes float64, chips int) float64 {
	if chips == 1 {
		return 0
	}
	n := float64(chips)
	links, hops := 1., n-1
	if chips == 16 {
		links, hops = 2, n/2
	}
	return bytes*(n-1)/n/(links*link) + start + hops*hop
}

// Most: D and the number of rows are on both sides. With more chips there is less to
// multiply on each, and as much to bring in.
func Most(hidden int) int {
	most := 1
	for _, n := range []int{2, 4, 8, 16} {
		multiply := 6 * float64(hidden) / float64(n) / flops
		links := 1.
		if n == 16 {
			links = 2
		}
		send := 2 * 2 * float64(n-1) / float64(n) / (links * link)
		if send <= multiply {
			most = n
		}
	}
	return most
}
