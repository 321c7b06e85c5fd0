package classroom

import (
	"os"
	"path/filepath"
)

// readPower reads what Linux tells of batteries and clocks
// (Documentation/ABI/testing/sysfs-class-power, sysfs-platform_profile, and
// Documentation/admin-guide/pm/cpufreq.rst).
func readPower() supply { return readPowerOf("/sys") }

func readPowerOf(root string) supply {
	read := func(parts ...string) string {
		text, _ := os.ReadFile(filepath.Join(append([]string{root}, parts...)...))
		return oneLine(text)
	}
	var s supply
	sources, _ := filepath.Glob(filepath.Join(root, "class/power_supply/*"))
	for _, path := range sources {
		name := filepath.Join("class/power_supply", filepath.Base(path))
		switch read(name, "type") {
		case "Mains", "USB":
			s.known = true
		case "Battery":
			if read(name, "scope") == "Device" { // of a mouse
				continue
			}
			s.known = true
			s.battery = s.battery || read(name, "status") == "Discharging"
		}
	}
	governor, driver := read("devices/system/cpu/cpu0/cpufreq/scaling_governor"), read("devices/system/cpu/cpu0/cpufreq/scaling_driver")
	switch profile := read("firmware/acpi/platform_profile"); {
	case profile == "low-power" || profile == "quiet":
		s.saving = "the power profile is " + profile + ": choose balanced or performance"
	case governor == "powersave" && driver != "intel_pstate" && driver != "amd-pstate-epp": // there it is the governor that scales
		s.saving = "the frequency governor is powersave: processors stay at their lowest clock"
	}
	return s
}
