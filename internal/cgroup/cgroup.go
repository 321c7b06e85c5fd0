// Package cgroup reads what the control groups of this process allow it, and what memory the
// machine has beside: groups of systemd, Slurm and containers lie below the root of the file
// system of groups, and each one's limit holds for all below it.
//
//	/proc/self/cgroup ─► the groups, innermost first ─► memory and cores left
//
// Both versions are read (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of
// Linux). Elsewhere than on Linux nothing is limited.
package cgroup

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Memory returns the bytes that this process can still take, file pages that can be
// dropped counted as free; ok is false where no group sets a limit.
func Memory() (free int64, ok bool) { return memory(os.DirFS("/")) }

// Available returns the bytes that this process can still take, by the machine and by its
// groups, without swapping; 0 where neither tells.
func Available() int64 {
	free := meminfo("MemAvailable:")
	if group, limited := Memory(); limited && (free == 0 || group < free) {
		free = group
	}
	return free
}

// Total returns the memory of the machine in bytes; 0 where it does not tell.
func Total() int64 { return meminfo("MemTotal:") }

func meminfo(name string) int64 {
	kib, _ := number(os.DirFS("/"), "proc/meminfo", name)
	return kib << 10
}

// Cores returns how many cores' time this process may take, such as 0.5; ok is false
// where no group sets a limit.
func Cores() (cores float64, ok bool) { return quota(os.DirFS("/")) }

// root is where the groups are mounted.
const root = "sys/fs/cgroup"

// hybrid is where version 2 is mounted beside version 1, with the controllers that no
// version 1 has.
const hybrid = root + "/unified"

// Groups are the folders of this process's group for a controller and of all that it
// lies in, innermost first, in both versions. system is the root of all files.
func Groups(system fs.FS, controller string) (v1, v2 []string) {
	text, _ := fs.ReadFile(system, "proc/self/cgroup")
	v1, v2 = []string{path.Join(root, controller)}, []string{root, hybrid}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(f) != 3 {
			continue
		}
		switch {
		case f[0] == "0" && f[1] == "":
			v2 = slices.Concat(above(root, f[2]), above(hybrid, f[2]), v2)
		case strings.Contains(","+f[1]+",", ","+controller+","):
			mount := path.Join(root, f[1]) // cpu,cpuacct is mounted under that name, and mostly linked
			if _, err := fs.Stat(system, mount); err != nil {
				mount = path.Join(root, controller)
			}
			v1 = append(above(mount, f[2]), mount)
		}
	}
	return v1, v2
}

// above are the folder of a group and those above it, below the root.
func above(root, group string) []string {
	var folders []string
	for group = path.Clean("/" + group); group != "/"; group = path.Dir(group) {
		folders = append(folders, root+group)
	}
	return folders
}

func memory(system fs.FS) (free int64, ok bool) {
	v1, v2 := Groups(system, "memory")
	take := func(groups []string, limitFile, usedFile, cacheName string) {
		for _, g := range groups {
			limit, limited := number(system, g+limitFile, "")
			used, known := number(system, g+usedFile, "")
			cache, _ := number(system, g+"/memory.stat", cacheName)
			limited = limited && known && limit < 1<<62 // none is nearly 2⁶³ in version 1
			if left := max(1, limit-used+cache); limited && (!ok || left < free) {
				free, ok = left, true
			}
		}
	}
	take(v2, "/memory.max", "/memory.current", "inactive_file")
	take(v1, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file")
	return free, ok
}

func quota(system fs.FS) (cores float64, ok bool) {
	take := func(quota, period int64, known bool) {
		if known && quota > 0 && period > 0 && (!ok || float64(quota)/float64(period) < cores) {
			cores, ok = float64(quota)/float64(period), true
		}
	}
	v1, v2 := Groups(system, "cpu")
	for _, g := range v2 {
		text, _ := fs.ReadFile(system, g+"/cpu.max")
		if f := strings.Fields(string(text)); len(f) == 2 {
			q, errQ := strconv.ParseInt(f[0], 10, 64) // or max
			p, errP := strconv.ParseInt(f[1], 10, 64)
			take(q, p, errQ == nil && errP == nil)
		}
	}
	for _, g := range v1 {
		q, limited := number(system, g+"/cpu.cfs_quota_us", "")
		p, known := number(system, g+"/cpu.cfs_period_us", "")
		take(q, p, limited && known)
	}
	return cores, ok
}

// number returns the number after the word name at the start of a line of a file, the
// first number if name is empty; ok is false if there is none, as of max.
func number(system fs.FS, file, name string) (n int64, ok bool) {
	text, _ := fs.ReadFile(system, file)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if name != "" {
			if len(f) == 0 || f[0] != name {
				continue
			}
			f = f[1:]
		}
		if len(f) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}
