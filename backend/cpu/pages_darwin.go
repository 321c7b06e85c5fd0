package cpu

func adviseHuge([]byte) {}
