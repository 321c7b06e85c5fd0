package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Watch begins to look at a question from outside.
func (p *Process) Watch() (end func() Seen) {
	used, begin := processorTime(p.Pid()), time.Now()
	return func() Seen {
		s := Seen{Elapsed: time.Since(begin), Processors: processorTime(p.Pid()) - used}
		own, all := priority("self"), unix.CPUSet{}
		for _, task := range p.tasks() {
			if is := priority(fmt.Sprintf("%d/task/%d", p.Pid(), task)); is != own && is != "" {
				s.Raised = is + ", not " + own
			}
			var m unix.CPUSet
			if unix.SchedGetaffinity(task, &m) == nil {
				for i := range m {
					all[i] |= m[i]
				}
			}
		}
		s.Allowed = all.Count()
		return s
	}
}

// Confine leaves a child the first of the processors that this process may use.
func (p *Process) Confine(processors int) {
	var m unix.CPUSet
	ok := unix.SchedGetaffinity(0, &m) == nil
	for i := range m {
		for rest := m[i]; rest != 0; rest &= rest - 1 {
			if processors--; processors < 0 {
				m[i] &^= rest & -rest
			}
		}
	}
	const passes = 8
	for more, n := ok, 0; more && n < passes; n++ { // a thread may be started before its parent is confined
		more = false
		for _, task := range p.tasks() {
			var has unix.CPUSet
			if unix.SchedGetaffinity(task, &has) == nil && has != m {
				more = true
				unix.SchedSetaffinity(task, &m)
			}
		}
	}
}

// tasks are the threads of a child.
func (p *Process) tasks() (list []int) {
	names, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.Pid()))
	for _, name := range names {
		if n, err := strconv.Atoi(name.Name()); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// processorTime reads the clock of a process (CPUCLOCK_SCHED in the system's words); 0 without one.
func processorTime(pid int) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|2), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// priority is what proc_pid_stat(5) says of it; "" of a thread that is gone.
func priority(task string) string {
	const nice, policy = 19, 41
	text, _ := os.ReadFile("/proc/" + task + "/stat")
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:])) // from the third on
	if len(fields) <= policy-3 {
		return ""
	}
	return fmt.Sprintf("nice %s, policy %s", fields[nice-3], fields[policy-3])
}
