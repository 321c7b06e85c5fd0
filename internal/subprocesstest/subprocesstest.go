// Package subprocesstest runs a test in a process of its own, where a registry may hold more
// than other tests are to see.
package subprocesstest

import (
	"os"
	"os/exec"
	"testing"
)

// Run runs f in a child process, in which the environment variable is set: this test
// executable again, with the calling test alone.
func Run(t *testing.T, variable string, f func(t *testing.T)) {
	t.Helper()
	if os.Getenv(variable) != "" {
		f(t)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), variable+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
