//go:build unix

package classroom

import "golang.org/x/sys/unix"

// freeDisk is how many bytes this user may still write to the file system of a folder.
func freeDisk(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
