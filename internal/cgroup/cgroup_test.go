package cgroup

import (
	"testing"
	"testing/fstest"
)

func system(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// TestLimits has the files as Linux writes them, of systemd, Slurm, a container and
// none.
func TestLimits(t *testing.T) {
	const g = "sys/fs/cgroup"
	for name, c := range map[string]struct {
		files map[string]string
		free  int64 // 0 for no limit
		cores float64
	}{
		"none":     {map[string]string{"proc/self/cgroup": "0::/\n"}, 0, 0},
		"no files": {nil, 0, 0},
		"a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", g + "/memory.max": "1000\n", g + "/memory.current": "700\n",
			g + "/memory.stat": "anon 5\ninactive_file 100\n", g + "/cpu.max": "50000 100000\n",
		}, 400, 0.5},
		"below the root, v2": {map[string]string{
			"proc/self/cgroup":                         "0::/user.slice/run.scope\n",
			g + "/user.slice/memory.max":               "max\n",
			g + "/user.slice/run.scope/memory.max":     "200000000\n",
			g + "/user.slice/run.scope/memory.current": "50000000\n",
			g + "/user.slice/cpu.max":                  "max 100000\n",
			g + "/user.slice/run.scope/cpu.max":        "max 100000\n",
		}, 150000000, 0},
		"the one above is tighter": {map[string]string{
			"proc/self/cgroup":      "0::/slurm/job/step\n",
			g + "/slurm/memory.max": "500\n", g + "/slurm/memory.current": "450\n",
			g + "/slurm/job/step/memory.max": "9000\n", g + "/slurm/job/step/memory.current": "10\n",
			g + "/slurm/cpu.max": "150000 100000\n", g + "/slurm/job/cpu.max": "400000 100000\n",
		}, 50, 1.5},
		"below the root, v1": {map[string]string{
			"proc/self/cgroup":                       "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/x\n0::/other\n",
			g + "/memory/memory.limit_in_bytes":      "9223372036854771712\n",
			g + "/memory/memory.usage_in_bytes":      "1\n",
			g + "/memory/job/memory.limit_in_bytes":  "1000\n",
			g + "/memory/job/memory.usage_in_bytes":  "900\n",
			g + "/memory/job/memory.stat":            "total_inactive_file 50\n",
			g + "/cpu,cpuacct/job/cpu.cfs_quota_us":  "200000\n",
			g + "/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
			g + "/cpu/cpu.cfs_quota_us":              "-1\n",
			g + "/cpu/cpu.cfs_period_us":             "100000\n",
		}, 150, 2},
		"both versions": {map[string]string{
			"proc/self/cgroup":                              "4:memory:/job\n0::/run.scope\n",
			g + "/memory/job/memory.limit_in_bytes":         "1000\n",
			g + "/memory/job/memory.usage_in_bytes":         "900\n",
			g + "/unified/run.scope/cpu.max":                "50000 100000\n",
			g + "/unified/cgroup.controllers":               "cpu\n",
			g + "/unified/run.scope/cgroup.subtree_control": "\n",
		}, 100, 0.5},
		"over it": {map[string]string{
			"proc/self/cgroup": "0::/a\n", g + "/a/memory.max": "100\n", g + "/a/memory.current": "180\n",
		}, 1, 0},
		"nonsense": {map[string]string{
			"proc/self/cgroup": "0::/../../etc\n::\nx\n", g + "/etc/memory.max": "many\n", g + "/cpu.max": "1\n",
		}, 0, 0},
	} {
		free, limited := memory(system(c.files))
		cores, held := quota(system(c.files))
		if free != c.free || limited != (c.free > 0) || cores != c.cores || held != (c.cores > 0) {
			t.Errorf("%s: %d bytes (%t), %v cores (%t); want %d, %v", name, free, limited, cores, held, c.free, c.cores)
		}
	}
}
