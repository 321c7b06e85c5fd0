package asmgen

// Places of the fields of a strip, the only argument of a kernel on tiles.
const (
	stripConfig     = 0
	stripSum        = 64
	stripSumRow     = 72
	stripSumPanel   = 80
	stripC          = 88
	stripRow        = 96
	stripPanel      = 104
	stripA          = 112
	stripRowA       = 120
	stripStepA      = 128
	stripPanelA     = 136
	stripB          = 144
	stripSteps      = 152
	stripPanels     = 160
	stripNextA      = 168
	stripNextB      = 176
	stripAheadA     = 184
	stripSumAfter   = 192
	stripCopy       = 200
	stripCopyTo     = 208
	stripAt         = 216
	stripTall       = 272
	stripWide       = 273
	stripAccumulate = 274
	stripStream     = 275
	stripBy         = 280
	stripCopyBy     = 296
	stripAtBy       = 312
)

// Places of what those hold that are several words.
const (
	stripAtSum      = stripAt
	stripAtC        = stripAt + 8
	stripAtA        = stripAt + 16
	stripAtCopy     = stripAt + 24
	stripAtCopyTo   = stripAt + 32
	stripAtNext     = stripAt + 40
	stripAtAfter    = stripAt + 48
	stripRowsBy     = stripBy
	stripColumnsBy  = stripBy + 8
	stripCopyRows   = stripCopyBy
	stripCopyCols   = stripCopyBy + 8
	stripAtRows     = stripAtBy
	stripAtCopyRows = stripAtBy + 8
	stripAtCopyCols = stripAtBy + 16
)

// StripFields are those places by the names of the fields, in bytes. A test of package
// gemm holds its strip to them, also on machines that have no tiles.
var StripFields = map[string]uintptr{
	"config": stripConfig, "sum": stripSum, "sumRow": stripSumRow, "sumPanel": stripSumPanel,
	"c": stripC, "row": stripRow, "panel": stripPanel,
	"a": stripA, "rowA": stripRowA, "stepA": stripStepA, "panelA": stripPanelA,
	"b": stripB, "steps": stripSteps, "panels": stripPanels,
	"nextA": stripNextA, "nextB": stripNextB, "aheadA": stripAheadA, "sumAfter": stripSumAfter,
	"copy": stripCopy, "copyTo": stripCopyTo, "at": stripAt,
	"tall": stripTall, "wide": stripWide, "accumulate": stripAccumulate, "stream": stripStream,
	"by": stripBy, "copyBy": stripCopyBy, "atBy": stripAtBy,
}

// StripStreams are the values of the field stream that the kernel on bfloat16 knows, by
// the names of the ways in which sums come to c.
func StripStreams() map[string]int {
	ways := map[string]int{}
	for _, c := range bfloat16Tiles.Copyings {
		ways[c.name] = c.way
	}
	return ways
}
