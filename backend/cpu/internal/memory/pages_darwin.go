package memory

const AsksForHugePages = false

func adviseHuge([]byte) {}
