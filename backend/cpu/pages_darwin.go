package cpu

const asksForHugePages = false

func adviseHuge([]byte) {}
