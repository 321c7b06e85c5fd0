package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/backend/pjrt"
	"matladder/internal/cli"
)

// pluginParams are the values of --param of a backend on a plugin.
type pluginParams struct {
	device    int
	method    string
	operands  string
	vmemBytes int64
}

// pluginParams reads --param: which device, the method of timing and, on a TPU, the memory of
// operands and how much of it a kernel may take.
func (r request) pluginParams() (pluginParams, error) {
	known := []string{"device", "method"}
	if r.name == "tpu" {
		known = append(known, "operands", "vmem_limit")
	}
	var p pluginParams
	for key, value := range r.params {
		var err error
		switch {
		case !slices.Contains(known, key):
			return p, cli.Usagef("--param %s: backend %s has no such parameter (known: %s)", key, r.name, strings.Join(known, ", "))
		case key == "vmem_limit":
			p.vmemBytes, err = parseBytes(value)
		case key == "operands":
			p.operands, err = oneOf(value, pjrt.OperandsHBM, pjrt.OperandsAny)
		case key == "device":
			if p.device, err = strconv.Atoi(value); err != nil || p.device < 0 {
				err = fmt.Errorf("%q: want the number of a device, counted from 0", value)
			}
		default:
			p.method, err = oneOf(value, pjrt.Methods()...)
		}
		if err != nil {
			return p, cli.Usagef("--param %s: %w", key, err)
		}
	}
	return p, nil
}

func oneOf(value string, known ...string) (string, error) {
	if !slices.Contains(known, value) {
		return "", fmt.Errorf("unknown value %q (known: %s)", value, strings.Join(known, ", "))
	}
	return value, nil
}

// parseBytes reads a size: 67108864, 65536KiB, 64MiB, 1GiB.
func parseBytes(s string) (int64, error) {
	number, unit := s, int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = n, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("size %q: want a positive number of bytes, or of KiB, MiB or GiB (64MiB)", s)
	}
	return n * unit, nil
}
