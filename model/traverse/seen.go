package traverse

// blockSet is a set of block numbers, a bit each, in pages made when they are first touched.
type blockSet struct {
	pages map[int64]*page
	last  int64 // number of the page used last
	page  *page
}

const (
	pageWords = 512
	pageBits  = pageWords * 64
)

type page [pageWords]uint64

// add reports whether n was in the set before.
func (s *blockSet) add(n int64) bool {
	if at := n / pageBits; s.page == nil || at != s.last {
		if s.pages == nil {
			s.pages = map[int64]*page{}
		}
		if s.pages[at] == nil {
			s.pages[at] = new(page)
		}
		s.page, s.last = s.pages[at], at
	}
	word, bit := &s.page[n%pageBits/64], uint64(1)<<(n%64)
	before := *word&bit != 0
	*word |= bit
	return before
}
