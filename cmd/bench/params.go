package main

import (
	"errors"
	"fmt"
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
			if p.vmemBytes, err = parseBytes(value); err == nil && p.vmemBytes < 1 {
				err = errors.New("want a size above 0")
			}
		case key == "operands":
			p.operands, err = oneOf(value, pjrt.OperandsHBM, pjrt.OperandsAny)
		case key == "device":
			if p.device, err = strconv.Atoi(value); err != nil || p.device < 0 {
				err = errors.New("want the number of a device, counted from 0")
			}
		default:
			p.method, err = oneOf(value, pjrt.Methods()...)
		}
		if err != nil {
			return p, cli.Usagef("--param %s=%s: %w", key, value, err)
		}
	}
	return p, nil
}

func oneOf(value string, known ...string) (string, error) {
	if !slices.Contains(known, value) {
		return "", fmt.Errorf("no such choice (known: %s)", strings.Join(known, ", "))
	}
	return value, nil
}
