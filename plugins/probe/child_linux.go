//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const supported = true

// Child does what Run asked for and ends the process, if this is a process that
// Run started; it returns at once otherwise.
func Child() {
	ask := os.Getenv(variable)
	if ask == "" {
		return
	}
	os.Unsetenv(variable)
	c := child{out: json.NewEncoder(os.NewFile(3, "report"))}
	var req request
	if err := json.Unmarshal([]byte(ask), &req); err != nil {
		c.fail(err)
	}
	if err := c.run(req); err != nil {
		c.fail(err)
	}
	c.Done = true
	c.send()
	os.Exit(0) // without taking the client down, which may hang
}

// child is the process that loads the plugin.
type child struct {
	Report
	out *json.Encoder
}

func (c *child) send() { c.out.Encode(c.Report) }

func (c *child) begin(s Step) {
	c.Step = s
	c.send()
}

func (c *child) fail(err error) {
	c.Problem, c.Done = err.Error(), true
	c.send()
	os.Exit(1)
}

func (c *child) run(req request) error {
	c.begin(Load)
	get, err := load(req.Path)
	if err != nil {
		return err
	}
	c.begin(Header)
	a := get()
	if a == nil {
		return fmt.Errorf("%s returns nothing", entryPoint)
	}
	if a.size < headerBytes || a.size > maxTableBytes {
		return fmt.Errorf("%s returns no table of functions (its size would be %d)", entryPoint, a.size)
	}
	c.API, c.APIBytes = fmt.Sprintf("%d.%d", a.version.major, a.version.minor), int(a.size)
	if !req.Client {
		return nil
	}
	c.begin(Client)
	client, err := a.client()
	if err != nil {
		return err
	}
	if c.Platform, err = a.text(clientPlatformName, client); err != nil {
		return err
	}
	if c.PlatformVersion, err = a.text(clientPlatformVersion, client); err != nil {
		return err
	}
	c.Devices, err = a.deviceKinds(client)
	return err
}

// ownGroup gives the child a process group, so that Ctrl-C is the parent's to
// handle, and ends the whole group when the child is to end, or the parent dies.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
