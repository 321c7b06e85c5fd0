//go:build !linux && !darwin && !windows

package classroom

func readPower() supply { return supply{} }
