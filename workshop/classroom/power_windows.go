package classroom

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var getSystemPowerStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemPowerStatus")

// readPower asks the system (SYSTEM_POWER_STATUS of winbase.h).
func readPower() supply {
	var status struct {
		ACLine, BatteryFlag, BatteryLifePercent, SystemStatus uint8
		BatteryLife, BatteryFullLife                          uint32
	}
	if ok, _, _ := getSystemPowerStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return supply{}
	}
	s := supply{known: status.ACLine <= 1, battery: status.ACLine == 0}
	if status.SystemStatus == 1 {
		s.saving = "battery saver is on: turn it off"
	}
	return s
}
