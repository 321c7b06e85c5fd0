//go:build unix

package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestLaunch_Trouble: a cluster whose launch went wrong is deleted.
func TestLaunch_Trouble(t *testing.T) {
	for _, kind := range []string{"tpu", "gpu"} {
		for _, step := range []string{"launch", "pull", "down"} {
			for i, m := range troubles(step) {
				if kind == "gpu" && i != 0 {
					continue // the same code
				}
				if step == "down" {
					m.limits = append(slices.Clone(hangs), "MATLADDER_DELETE=4")
				}
				t.Run(kind+"/"+m.String(), func(t *testing.T) {
					t.Parallel()
					c := newClone(t)
					m.limits = append(slices.Clone(m.limits), "MATLADDER_LAUNCH=3")
					if step == "down" { // is reached only after a failure
						c.env = append(c.env, "STANDIN_ALSO=launch")
					}
					status, _, printed := c.run(m, "sky/launch-"+kind, "--", "--config", "quick")
					if status == 0 {
						t.Error("status 0")
					}
					steps, commands := c.calls()
					name := "ml-ann-example-matmul-" + map[string]string{"tpu": "v5litepod-1", "gpu": "l4-1"}[kind]
					if i := slices.Index(steps, "down"); i < 0 || commands[i] != "sky down --yes "+name {
						t.Errorf("%s was launched, then: %v", name, commands)
					}
					deleted := strings.Contains(printed, "deleted "+name)
					remembered := c.read(".cluster_name_"+kind) != ""
					if deleted == remembered || !deleted && !strings.Contains(printed, "IS NOT DELETED") {
						t.Errorf("deleted %v, remembered %v", deleted, remembered)
					}
					if t.Failed() {
						t.Log(printed)
					}
				})
			}
		}
	}
}

// TestLaunch: the task is the one of the YAML file with what was asked for; the
// cluster is remembered, and exec and sync use it.
func TestLaunch(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	status, _, printed := c.run(misbehave{}, "sky/launch-tpu", "tpu-v6e-1", "probe", "--", "--config", "ladder")
	if status != 0 || !strings.Contains(printed, "is not deleted now") {
		t.Errorf("status %d\n%s", status, printed)
	}
	name := "ml-ann-example-probe-v6e-1"
	if got := strings.TrimSpace(c.read(".cluster_name_tpu")); got != name {
		t.Errorf("remembered %q", got)
	}
	if status, _, printed := c.run(misbehave{}, "sky/sync"); status != 0 {
		t.Errorf("sync: status %d\n%s", status, printed)
	}
	if status, _, printed := c.run(misbehave{at: "execute", do: "fail"}, "sky/exec", "tpu", "bin/bench", "--list"); status != 1 || !strings.Contains(printed, name+" is not deleted: SkyPilot does") {
		t.Errorf("exec: status %d\n%s", status, printed)
	}
	steps, commands := c.calls()
	if want := []string{"launch", "pull", "push", "pull", "push", "execute", "pull"}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	for _, want := range []string{"--cluster " + name, "--down", "--idle-minutes-to-autostop 10", "FLAGS=--config ladder"} {
		if !strings.Contains(commands[0], want) {
			t.Errorf("no %s in %s", want, commands[0])
		}
	}
	task := c.read("task")
	for _, want := range []string{"accelerators: tpu-v6e-1\n", "runtime_version: v2-alpha-tpuv6e\n"} {
		if !strings.Contains(task, want) {
			t.Errorf("no %q in the task", want)
		}
	}
	if want := "sky exec " + name + " bin/bench --list"; commands[5] != want {
		t.Errorf("%s, want %s", commands[5], want)
	}
}

// TestTasks: the YAML files are well-formed and have only fields that SkyPilot
// knows, a cluster of theirs deletes itself, and they call what is there.
// scripts/sky/validate asks SkyPilot's own parser.
func TestTasks(t *testing.T) {
	for _, kind := range []string{"tpu", "gpu"} {
		text, err := os.ReadFile(filepath.Join("sky", kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var task struct {
			Name      string
			Resources struct {
				Infra        string
				Accelerators string
				Args         map[string]string `yaml:"accelerator_args"`
				UseSpot      bool              `yaml:"use_spot"`
				Autostop     struct {
					IdleMinutes int `yaml:"idle_minutes"`
					Down        bool
				}
				Labels map[string]string
			}
			Workdir string
			Envs    map[string]string
			Setup   string
			Run     string
		}
		d := yaml.NewDecoder(strings.NewReader(string(text)))
		d.KnownFields(true)
		if err := d.Decode(&task); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if a := task.Resources.Autostop; a.IdleMinutes < 1 || a.IdleMinutes > 30 || !a.Down {
			t.Errorf("%s: autostop %+v", kind, a)
		}
		for _, script := range regexp.MustCompile(`scripts/\w+`).FindAllString(task.Setup+task.Run, -1) {
			if _, err := os.Stat(strings.TrimPrefix(script, "scripts/")); err != nil {
				t.Error(err)
			}
		}
		for _, name := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(task.Run, -1) {
			if _, ok := task.Envs[name[1]]; !ok {
				t.Errorf("%s: %s is not among envs", kind, name[0])
			}
		}
	}
}

// TestExec_Interrupted: nothing is deleted, and the script says what will be.
func TestExec_Interrupted(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write(".cluster_name_gpu", "a-cluster\n")
	status, _, printed := c.run(misbehave{at: "execute", do: "signal", sig: syscall.SIGINT}, "sky/exec", "nvidia-smi")
	if status != 130 || !strings.Contains(printed, "a-cluster is not deleted: SkyPilot does when it has been idle for 10 minutes") {
		t.Errorf("status %d\n%s", status, printed)
	}
}
