package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/aot"
	"matladder/internal/cli"
)

// aheadOfTime is the backend that compiles for a chip that is not there.
const aheadOfTime = "aot"

// topologies are the generations that libtpu compiles for.
func topologies() string {
	var names []string
	for _, t := range aot.Topologies() {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// backendName is the backend that the flags ask for; "" for the first of openers.
func (f *flags) backendName() string {
	if f.backend == "" && (f.predict || f.topology != "") {
		return aheadOfTime
	}
	return f.backend
}

// checkAhead refuses what makes no sense ahead of time, or only there.
func (f *flags) checkAhead() error {
	ahead := f.backendName() == aheadOfTime
	switch {
	case !ahead && (f.predict || f.topology != ""):
		return cli.Usagef("--backend %s measures: --predict and --topology are for --backend %s, which can go on with the same file (--out FILE --resume)", f.backend, aheadOfTime)
	case !ahead:
		return nil
	case f.topology == "":
		return cli.Usagef("--backend %s needs --topology: the chip to predict for (%s)", aheadOfTime, topologies())
	case f.fault != "":
		return cli.Usagef("--fault damages outputs, and --backend %s has none: it runs nothing", aheadOfTime)
	}
	if _, err := aot.FindTopology(f.topology); err != nil {
		return cli.Usagef("--topology: %w", err)
	}
	return nil
}

// openAhead opens libtpu's compiler for a chip that is not there.
func openAhead(_ context.Context, r request) (*device, error) {
	for key := range r.params {
		if key != "vmem_limit" {
			return nil, cli.Usagef("--param %s: backend %s has no such parameter (known: vmem_limit)", key, r.name)
		}
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: r.topology, Options: aot.Options{Limit: r.timeout}})
	if err != nil {
		return nil, err
	}
	d := &device{Backend: b, predict: true}
	if text := r.params["vmem_limit"]; text != "" {
		most := b.MostVMEM()
		n, err := parseBytes(text)
		if err == nil && (n < 1 || n > most) {
			err = fmt.Errorf("%s has %s", r.topology, backend.FormatBytes(most))
		}
		if err != nil {
			b.Close()
			return nil, cli.Usagef("--param vmem_limit=%s: %w", text, err)
		}
		d.params.VMEMBytes = n
	}
	name, version := b.Plugin()
	d.summary = fmt.Sprintf("%s that is not there, %s", b.Device().Names[0], strings.TrimSpace(name+" "+version))
	if err := b.Kept(); err != nil {
		d.remark = err.Error()
	}
	return d, nil
}

// parseBytes reads a size: a number of bytes, or of KiB, MiB or GiB.
func parseBytes(s string) (int64, error) {
	number, unit := s, 1.
	for suffix, bytes := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = strings.TrimSpace(n), bytes
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v*unit >= 0 && v*unit <= math.MaxInt64/2) {
		return 0, errors.New("want bytes, or a number of KiB, MiB or GiB, as in 64MiB")
	}
	return int64(v * unit), nil
}
