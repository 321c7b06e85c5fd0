package memory

// AsksForHugePages says whether large arrays are put on large pages.
const AsksForHugePages = false

func adviseHuge([]byte) {}
