package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Watch begins to look at a question from outside. end says how long it took, how much time of
// processors the child took meanwhile, threads that ended included, and whether one of its threads
// has another priority than this process.
func (p *Process) Watch() (end func() (elapsed, processors time.Duration, raised string)) {
	used, begin := processorTime(p.Pid()), time.Now()
	return func() (time.Duration, time.Duration, string) {
		elapsed := time.Since(begin)
		return elapsed, processorTime(p.Pid()) - used, raised(p.Pid())
	}
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

// raised is how the first thread of a process with another priority than this process has it.
func raised(pid int) string {
	own := priority("/proc/self/stat")
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, task := range tasks {
		if p := priority(task); p != own && p != "" {
			return fmt.Sprintf("%s, not %s", p, own)
		}
	}
	return ""
}

// priority is what proc_pid_stat(5) says of it; "" of a thread that is gone.
func priority(file string) string {
	const nice, policy = 19, 41
	text, _ := os.ReadFile(file)
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:])) // from the third on
	if len(fields) <= policy-3 {
		return ""
	}
	return fmt.Sprintf("nice %s, policy %s", fields[nice-3], fields[policy-3])
}
