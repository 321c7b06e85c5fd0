package probe

import "golang.org/x/sys/unix"

// ask reads the system's own figures; caches are those of the fast cores.
func ask() HostInfo {
	var h HostInfo
	h.Name, _ = unix.Sysctl("machdep.cpu.brand_string")
	number := func(names ...string) int {
		for _, name := range names {
			if v, err := unix.SysctlUint64(name); err == nil {
				return int(v)
			}
			if v, err := unix.SysctlUint32(name); err == nil {
				return int(v)
			}
		}
		return 0
	}
	h.Cores = number("hw.physicalcpu")
	h.L1D = number("hw.perflevel0.l1dcachesize", "hw.l1dcachesize")
	h.L2 = number("hw.perflevel0.l2cachesize", "hw.l2cachesize")
	h.L3 = number("hw.perflevel0.l3cachesize", "hw.l3cachesize")
	return h
}
