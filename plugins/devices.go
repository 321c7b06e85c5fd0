package plugins

import "path/filepath"

// deviceFiles are patterns of files of which a machine with the device has one.
var deviceFiles = map[string][]string{
	"tpu":  {"/dev/accel[0-9]*", "/dev/vfio/[0-9]*"},
	"cuda": {"/dev/nvidia[0-9]*", "/dev/dxg"},
}

// MissingDevice returns what a plugin's device would need of this machine and is
// not there, "" if nothing is missing. It only looks for files, and at once.
func MissingDevice(name string) string {
	patterns := deviceFiles[name]
	for _, p := range patterns {
		if found, _ := filepath.Glob(p); len(found) > 0 {
			return ""
		}
	}
	switch name {
	case "tpu":
		return "no TPU here (neither /dev/accel* nor /dev/vfio/*)"
	case "cuda":
		return "no NVIDIA GPU or driver here (no /dev/nvidia*)"
	}
	return ""
}

// Environment returns what must be in the environment, as k=v, before a plugin is
// loaded where its device is missing.
func Environment(name string) []string {
	if name == "tpu" && MissingDevice(name) != "" {
		return []string{"TPU_SKIP_MDS_QUERY=1"} // libtpu waits for a cloud's metadata server for ever
	}
	return nil
}
