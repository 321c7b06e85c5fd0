package child

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Watch begins to look at a question from outside.
func (p *Process) Watch() (end func() Seen) {
	used, begin := processorTime(p.Pid()), time.Now()
	return func() Seen {
		s := Seen{Elapsed: time.Since(begin), Processors: processorTime(p.Pid()) - used}
		own, all := priority("self"), mask{}
		for _, task := range p.tasks() {
			if is := priority(fmt.Sprintf("%d/task/%d", p.Pid(), task)); is != own && is != "" {
				s.Raised = is + ", not " + own
			}
			if m, ok := affinity(task); ok {
				for i := range m {
					all[i] |= m[i]
				}
			}
		}
		for _, word := range all {
			s.Allowed += bits.OnesCount64(word)
		}
		return s
	}
}

// Confine leaves a child the first of the processors that this process may use.
func (p *Process) Confine(processors int) {
	m, ok := affinity(0)
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
			if has, known := affinity(task); known && has != m {
				more = true
				syscall.Syscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(task), unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
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

// mask is a set of processors.
type mask [16]uint64

func affinity(task int) (m mask, ok bool) {
	n, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(task), unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	return m, int(n) > 0
}

// processorTime reads the clock of a process (CPUCLOCK_SCHED in the system's words); 0 without one.
func processorTime(pid int) time.Duration {
	var t syscall.Timespec
	clock := ^pid<<3 | 2
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); e != 0 {
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
