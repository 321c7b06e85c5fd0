//go:build race

package check

// raceEnabled says that the race detector slows everything tenfold.
const raceEnabled = true
