//go:build unix

package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestExpire: what is past its label is deleted, if it is matladder's and one's
// own.
func TestExpire(t *testing.T) {
	now := time.Now().Unix()
	list := fmt.Sprintf("ml-old,ACTIVE,matladder,ann-example,%d\nml-new,ACTIVE,matladder,ann-example,%d\n"+
		"ml-bobs,ACTIVE,matladder,bob,%d\nbare,ACTIVE,,,\nml-odd,FAILED,matladder,ann-example,soon\n", now-10, now+1000, now-10)
	for _, test := range []struct {
		args    []string
		deleted []string
	}{
		{nil, []string{"ml-old"}},
		{[]string{"--all-owners"}, []string{"ml-old", "ml-bobs"}},
		{[]string{"--dry-run", "--all-owners"}, nil},
	} {
		c := newClone(t)
		c.write("list", list)
		status, _, printed := c.run(misbehave{}, "tpu-expire", append(test.args, "--zone", "us-central1-a")...)
		if status != 0 || !strings.Contains(printed, "4 machine(s) of matladder") {
			t.Errorf("%v: status %d\n%s", test.args, status, printed)
		}
		var deleted []string
		steps, commands := c.calls()
		for i, step := range steps {
			if step == "delete" {
				deleted = append(deleted, strings.Fields(commands[i])[5])
			}
		}
		if !slices.Equal(deleted, test.deleted) {
			t.Errorf("%v: deleted %v, want %v\n%s", test.args, deleted, test.deleted, printed)
		}
	}
}

func TestExpire_Trouble(t *testing.T) {
	for _, step := range []string{"list", "delete"} {
		for _, m := range troubles(step) {
			t.Run(m.String(), func(t *testing.T) {
				t.Parallel()
				c := newClone(t)
				c.write("list", "ml-old,ACTIVE,matladder,ann-example,1\n")
				status, _, printed := c.run(m, "tpu-expire", "--zone", "us-central1-a")
				want := m.status()
				if step == "delete" && m.sig != 0 {
					want = 128 + int(m.sig)
				}
				if status != want {
					t.Errorf("status %d, want %d\n%s", status, want, printed)
				}
				steps, _ := c.calls()
				if step == "list" && slices.Contains(steps, "delete") {
					t.Error("deleted something that was not listed")
				}
				if step == "list" && m.sig != 0 && !strings.Contains(printed, "run it again") {
					t.Errorf("does not say that nothing was deleted:\n%s", printed)
				}
			})
		}
	}
}

// TestDelete: by name, by memory, and all that is remembered.
func TestDelete(t *testing.T) {
	remember := func(c *clone) {
		c.write("out/tpu/ml-a", "zone=us-central1-a\nproject=p\nexpires=1800000000\n")
		c.write("out/tpu/ml-b", "zone=us-east5-a\nproject=p\nexpires=1800000000\n")
	}
	for _, test := range []struct {
		args   []string
		status int
		want   []string // commands
		says   string
	}{
		{nil, 0, nil, "ml-b in us-east5-a, project p, expires 2027-01-15 08:00 UTC"},
		{[]string{"ml-a"}, 0, []string{"ml-a --zone=us-central1-a --project=p"}, "deleted ml-a"},
		{[]string{"--all"}, 0, []string{"ml-a --zone=us-central1-a --project=p", "ml-b --zone=us-east5-a --project=p"}, "deleted ml-b"},
		{[]string{"other", "--zone", "z", "--project", "q"}, 0, []string{"other --zone=z --project=q"}, "deleted other"},
		{[]string{"other"}, 1, nil, "give its --zone"},
	} {
		c := newClone(t)
		remember(c)
		status, _, printed := c.run(misbehave{}, "tpu-delete", test.args...)
		if status != test.status || !strings.Contains(printed, test.says) {
			t.Errorf("%v: status %d\n%s", test.args, status, printed)
		}
		var got []string
		steps, commands := c.calls()
		for i, step := range steps {
			if step == "delete" {
				got = append(got, strings.TrimSuffix(strings.TrimPrefix(commands[i], "gcloud compute tpus queued-resources delete "), " --force --quiet"))
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: ran %q, want %q", test.args, got, test.want)
		}
	}
}

// TestDelete_Trouble: an interrupted deletion goes on; what is not deleted stays
// remembered.
func TestDelete_Trouble(t *testing.T) {
	for _, step := range []string{"login", "delete"} {
		for _, m := range troubles(step) {
			t.Run(m.String(), func(t *testing.T) {
				t.Parallel()
				c := newClone(t)
				c.write("out/tpu/ml-a", "zone=us-central1-a\nproject=p\nexpires=1800000000\n")
				_, _, printed := c.run(m, "tpu-delete", "ml-a")
				_, err := os.Stat(filepath.Join(c.dir, "out/tpu/ml-a"))
				gone := strings.Contains(printed, "deleted ml-a")
				if gone == (err == nil) {
					t.Errorf("deleted %v, remembered %v\n%s", gone, err == nil, printed)
				}
				if !gone && !strings.Contains(printed, "IS NOT DELETED") && !strings.Contains(printed, "nothing was deleted; run it again") {
					t.Errorf("does not say that it is still there:\n%s", printed)
				}
			})
		}
	}
}

// TestDelete_GivesUp: three interruptions end even a deletion.
func TestDelete_GivesUp(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.write("out/tpu/ml-a", "zone=us-central1-a\nproject=p\nexpires=1800000000\n")
	c.write("thrice", `"$@" & pid=$!
while [ ! -s "$STANDIN/hung" ]; do sleep 0.1; done
for i in 1 2 3 4 5 6; do kill -TERM $pid; sleep 0.7; done 2>/dev/null
wait $pid`)
	_, _, printed := c.run(misbehave{at: "delete", do: "hang", limits: []string{"MATLADDER_DELETE=600"}}, "../thrice", c.bash, filepath.Join(c.dir, "scripts/tpu-delete"), "ml-a")
	if !strings.Contains(printed, "*** ml-a IS NOT DELETED") {
		t.Error(printed)
	}
}
