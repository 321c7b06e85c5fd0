package triton

import (
	"fmt"
	"strconv"
)

// Targets are the generations, the default first.
func Targets() []Target { return targets }

// FindTarget returns the generation of that name.
func FindTarget(name string) (Target, error) {
	for _, t := range targets {
		if t.Name == name {
			return t, nil
		}
	}
	return Target{}, fmt.Errorf("no GPU generation %s", name)
}

// Values are the parameters that are chosen, as they are recorded.
func (p Params) Values() map[string]string {
	values := map[string]string{}
	for name, known := range parameters {
		if n := *known.field(&p); n != 0 {
			values[name] = strconv.Itoa(n)
		}
	}
	return values
}

// TextTarget is a generation without limits whose products have some bytes of each row
// or column along k in registers; 0 for all, which then lie along k in shared memory.
func TextTarget(operandBytes int) Target {
	return Target{Name: "text", operandBytes: operandBytes, readsAlongK: operandBytes == 0}
}

// ScaledTarget is one whose matrix units multiply by the scales of groups.
func ScaledTarget(mixed bool) Target {
	return Target{Name: "text", operandBytes: 32, scaledRows: 16, mixed: mixed}
}
