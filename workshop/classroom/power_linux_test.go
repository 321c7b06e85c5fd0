package classroom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadPower(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  supply
	}{
		"a desktop":      {map[string]string{}, supply{}},
		"mains":          {map[string]string{"class/power_supply/AC/type": "Mains\n", "class/power_supply/BAT0/type": "Battery\n", "class/power_supply/BAT0/status": "Charging\n"}, supply{known: true}},
		"battery":        {map[string]string{"class/power_supply/BAT0/type": "Battery\n", "class/power_supply/BAT0/status": "Discharging\n"}, supply{known: true, battery: true}},
		"a mouse's":      {map[string]string{"class/power_supply/m/type": "Battery\n", "class/power_supply/m/scope": "Device\n", "class/power_supply/m/status": "Discharging\n"}, supply{}},
		"a saving clock": {map[string]string{"devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n", "devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n"}, supply{saving: "governor"}},
		"intel_pstate":   {map[string]string{"devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n", "devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate\n"}, supply{}},
		"a profile":      {map[string]string{"firmware/acpi/platform_profile": "low-power\n"}, supply{saving: "profile"}},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got := readPowerOf(root)
		if got.known != c.want.known || got.battery != c.want.battery || (got.saving == "") != (c.want.saving == "") || !strings.Contains(got.saving, c.want.saving) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
