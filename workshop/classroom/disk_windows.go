package classroom

import "golang.org/x/sys/windows"

// freeDisk is how many bytes this user may still write to the volume of a folder.
func freeDisk(folder string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}
