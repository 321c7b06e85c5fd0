package child

import "fmt"

// Threads are environment variables that tell the libraries of a child how many threads to
// use.
func Threads(n int) []string {
	env := []string{"OMP_DYNAMIC=FALSE", "MKL_DYNAMIC=FALSE"}
	for _, name := range []string{"OPENBLAS", "OMP", "MKL", "BLIS"} {
		env = append(env, fmt.Sprintf("%s_NUM_THREADS=%d", name, n))
	}
	return env
}
