//go:build unix

package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// hangs are limits at which a hanging step is ended.
var hangs = []string{"MATLADDER_LIMIT=2", "MATLADDER_TRANSFER=2", "MATLADDER_SETUP=2", "MATLADDER_MEASURE=2"}

// troubles are all ways in which a step can go wrong.
func troubles(step string) []misbehave {
	if step == "delete" { // what is being deleted, no signal keeps from it
		again := append(slices.Clone(hangs), "MATLADDER_DELETE=30")
		return []misbehave{
			{at: step, do: "fail"},
			{at: step, do: "once", limits: again},
			{at: step, do: "hang", limits: hangs},
			{at: step, do: "signal", sig: syscall.SIGINT, limits: again},
			{at: step, do: "signal", sig: syscall.SIGHUP, limits: again},
			{at: step, do: "signal", sig: syscall.SIGTERM, limits: again},
		}
	}
	return []misbehave{
		{at: step, do: "fail"},
		{at: step, do: "hang", limits: hangs},
		{at: step, do: "signal", sig: syscall.SIGINT},
		{at: step, do: "signal", sig: syscall.SIGHUP},
		{at: step, do: "signal", sig: syscall.SIGTERM},
	}
}

func (m misbehave) String() string {
	if m.sig != 0 {
		return fmt.Sprintf("%s/%v", m.at, m.sig)
	}
	return m.at + "/" + m.do
}

// status is what the script exits with.
func (m misbehave) status() int {
	if m.at == "delete" && (m.do == "signal" || m.do == "once") {
		return 0
	}
	if m.sig != 0 {
		return 128 + int(m.sig)
	}
	return 1
}

// trouble runs a script once for every step and way of going wrong. Whatever
// happens, a machine that was asked for is deleted last, or there was none and the
// script says so.
func trouble(t *testing.T, steps []string, script string, args ...string) {
	for _, step := range steps {
		for _, m := range troubles(step) {
			t.Run(m.String(), func(t *testing.T) {
				t.Parallel()
				c := newClone(t)
				status, _, printed := c.run(m, script, args...)
				if status != m.status() {
					t.Errorf("status %d, want %d", status, m.status())
				}
				c.checkDeleted(printed)
				if t.Failed() {
					done, _ := c.calls()
					t.Logf("steps %v\n%s", done, printed)
				}
			})
		}
	}
}

// checkDeleted checks that a machine that was asked for has been deleted, or that
// the script has said why not.
func (c *clone) checkDeleted(printed string) {
	c.t.Helper()
	steps, commands := c.calls()
	asked := slices.Index(steps, "create")
	if asked < 0 {
		if !strings.Contains(printed, "nothing to delete: no machine was asked for") {
			c.t.Error("no machine was asked for, and the script does not say so")
		}
		return
	}
	last := len(steps) - 1
	if steps[last] != "delete" {
		c.t.Error("the machine was not deleted")
		return
	}
	name := strings.Fields(commands[asked])[5]
	if strings.HasPrefix(commands[asked], "gcloud alpha") {
		name = strings.Fields(commands[asked])[6]
	}
	if !strings.Contains(commands[last], " delete "+name+" ") || !strings.Contains(commands[last], "--force") {
		c.t.Errorf("%s was asked for, deleted was: %s", name, commands[last])
	}
	_, err := os.Stat(filepath.Join(c.dir, "out/tpu", name))
	deleted := strings.Contains(printed, "deleted "+name)
	if remembered := err == nil; remembered == deleted {
		c.t.Errorf("deleted %v, remembered %v", deleted, remembered)
	}
	if !deleted && !strings.Contains(printed, "*** "+name+" IS NOT DELETED") {
		c.t.Error("the machine may still be there, and the script does not say so")
	}
}

func TestRun_Trouble(t *testing.T) {
	trouble(t, []string{"login", "project", "create", "describe", "answer", "upload", "setup", "measure", "pack", "download", "delete"},
		"tpu-run", "--", "--config", "quick")
}

func TestCreate_Trouble(t *testing.T) {
	trouble(t, []string{"create", "answer"}, "tpu-create", "--accelerator", "v4-8") // the rest is tpu-run's code
}

// TestRun_Results: what was measured is here before the machine is deleted, also
// after an interruption.
func TestRun_Results(t *testing.T) {
	for _, m := range []misbehave{
		{},
		{at: "answer", do: "once"},
		{at: "download", do: "once"},
		{at: "setup", do: "fail"},
		{at: "measure", do: "fail"},
		{at: "measure", do: "signal", sig: syscall.SIGINT},
	} {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			status, _, printed := c.run(m, "tpu-run")
			if want := m.do != "" && m.do != "once"; (status != 0) != want {
				t.Errorf("status %d", status)
			}
			steps, _ := c.calls()
			if i := slices.Index(steps, "download"); i < 0 || i > slices.Index(steps, "delete") {
				t.Errorf("not copied before it was deleted: %v", steps)
			}
			for _, ending := range []string{"csv", "log"} {
				found, _ := filepath.Glob(filepath.Join(c.dir, "out/ml-ann-example-v5litepod-1-*."+ending))
				if len(found) != 1 {
					t.Errorf("%d files *.%s", len(found), ending)
				}
			}
			c.checkDeleted(printed)
			if t.Failed() {
				t.Log(printed)
			}
		})
	}
}

// TestRun_Causes: the usual errors come with what to do about them.
func TestRun_Causes(t *testing.T) {
	for _, test := range []struct{ at, do, want string }{
		{"create", "ERROR: PERMISSION_DENIED: Cloud TPU API has not been used in project 1 before or it is disabled", "gcloud services enable tpu.googleapis.com --project a-project"},
		{"create", "ERROR: RESOURCE_EXHAUSTED: Quota limit", "quota: ask for TPU quota of v5e in us-central1-a"},
		{"create", "ERROR: (gcloud.alpha) Invalid choice: 'alpha'", "or use --provisioning spot"},
		{"create", "ERROR: ALREADY_EXISTS: it is there", "nothing to delete: that machine was there before"},
		{"delete", "ERROR: NOT_FOUND: Resource was not found", "nothing to delete: the cloud knows no ml-"},
		{"delete", "ERROR: UNAUTHENTICATED", "log in again: gcloud auth login"},
	} {
		t.Run(test.at+"/"+test.do, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			_, _, printed := c.run(misbehave{at: test.at, do: test.do}, "tpu-run")
			if !strings.Contains(printed, test.want) {
				t.Errorf("does not say %q:\n%s", test.want, printed)
			}
			steps, _ := c.calls()
			if strings.Contains(test.do, "ALREADY_EXISTS") && slices.Contains(steps, "delete") {
				t.Error("deleted a machine that is another's")
			}
		})
	}
}

// TestRun_NoCapacity: a request that the cloud gives up is deleted too, since it
// holds quota.
func TestRun_NoCapacity(t *testing.T) {
	for _, state := range []string{"FAILED", "SUSPENDED"} {
		c := newClone(t)
		c.env = append(c.env, "STANDIN_STATE="+state)
		status, _, printed := c.run(misbehave{}, "tpu-run")
		if status != 1 || !strings.Contains(printed, "the request ended in state "+state) {
			t.Errorf("status %d:\n%s", status, printed)
		}
		c.checkDeleted(printed)
	}
}

// TestRun_GoneTerminal: nobody reads what the script prints.
func TestRun_GoneTerminal(t *testing.T) {
	c := newClone(t)
	c.write("pipe", `"$@" 2>&1 | true; exit "${PIPESTATUS[0]}"`)
	status, _, _ := c.run(misbehave{}, "../pipe", c.bash, filepath.Join(c.dir, "scripts/tpu-run"))
	if status != 0 {
		t.Errorf("status %d", status)
	}
	c.checkDeleted("deleted " + c.onlyMachine())
}

// onlyMachine is the name of the machine that was asked for.
func (c *clone) onlyMachine() string {
	steps, commands := c.calls()
	_, after, _ := strings.Cut(commands[slices.Index(steps, "create")], "--node-id=")
	name, _, _ := strings.Cut(after, " ")
	return name
}

// TestRun_Several: one sweep dealt out to two machines, which end together when
// one interruption comes.
func TestRun_Several(t *testing.T) {
	for _, m := range []misbehave{
		{},
		{at: "measure", do: "hang", sig: syscall.SIGINT},
		{at: "measure", do: "hang", sig: syscall.SIGTERM},
	} {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			status, _, printed := c.run(m, "tpu-run", "--accelerator", "v5litepod-1,v6e-1", "--split", "dtype=float32,bfloat16,int8", "--", "--config", "ladder")
			want := 0
			if m.sig != 0 {
				want = m.status()
			}
			if status != want {
				t.Errorf("status %d, want %d", status, want)
			}
			steps, commands := c.calls()
			count := map[string]int{}
			for i, s := range steps {
				count[s]++
				if s != "measure" {
					continue
				}
				share := "--config ladder --dtype float32\\,int8"
				if strings.Contains(commands[i], "v6e-1") {
					share = "--config ladder --dtype bfloat16"
				}
				if !strings.Contains(commands[i], share) {
					t.Errorf("share: %s", commands[i])
				}
			}
			if count["create"] != count["delete"] || m.sig == 0 && count["delete"] != 2 {
				t.Errorf("steps %v", count)
			}
			if t.Failed() {
				t.Log(printed)
			}
		})
	}
}
