// Package nvml reads how an NVIDIA GPU fares from the library of its driver: clocks, why
// they are lower than they could be, heat, power, and the memory of other processes.
//
//  1. Child, called first thing in main, is the reader: a process of its own, as the
//     library may hang where a driver is ill, or end its process.
//  2. Open starts one for a GPU; Gauge asks it. What the library does not tell is not
//     known; a reader that does not answer in time is ended, and nothing is known from
//     then on.
//
// It needs Linux; elsewhere Open says so. No cgo.
package nvml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"matladder/backend"
	"matladder/internal/child"
)

const role = "nvml"

// Limits of time: of the first answer, for which the library is loaded and finds all GPUs,
// and of the others.
const (
	openLimit = 5 * time.Second
	readLimit = time.Second
)

// question asks for a GPU: by what it is called, or by its number.
type question struct {
	UUID  string
	Index int
}

type answer struct {
	Gauge  backend.Gauge
	Failed string
}

// Reader reads from one GPU. Several goroutines may use it.
type Reader struct {
	gpu question

	mu    sync.Mutex
	child *child.Process // nil once it has failed or was closed
	err   error          // why there is none
}

// Open starts a reader for a GPU, by its number among those that CUDA shows, and returns
// what it reads first.
func Open(ctx context.Context, device int) (*Reader, backend.Gauge, error) {
	if !supported {
		return nil, backend.Gauge{}, errors.New("nvml: only on Linux")
	}
	gpu, err := visible(os.Getenv("CUDA_VISIBLE_DEVICES"), device)
	if err != nil {
		return nil, backend.Gauge{}, err
	}
	r := &Reader{gpu: gpu}
	if r.child, err = child.Start(child.Options{Role: role}); err != nil {
		return nil, backend.Gauge{}, fmt.Errorf("nvml: %w", err)
	}
	g, err := r.read(ctx, openLimit)
	if err != nil {
		r.Close()
		return nil, backend.Gauge{}, err
	}
	return r, g, nil
}

// visible is the GPU behind a number, as CUDA_VISIBLE_DEVICES has it: numbers, or the
// beginnings of what GPUs are called, joined by commas.
func visible(list string, device int) (question, error) {
	if list == "" {
		return question{Index: device}, nil
	}
	names := strings.Split(list, ",")
	if device >= len(names) {
		return question{}, fmt.Errorf("nvml: CUDA_VISIBLE_DEVICES=%s has no number %d", list, device)
	}
	name := strings.TrimSpace(names[device])
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return question{Index: n}, nil
	}
	if strings.HasPrefix(name, "GPU-") {
		return question{UUID: name}, nil
	}
	return question{}, fmt.Errorf("nvml: CUDA_VISIBLE_DEVICES=%s: which GPU %q is, is not known here", list, name)
}

// Gauge reads once; false if nothing is known, or no longer.
func (r *Reader) Gauge(ctx context.Context) (backend.Gauge, bool) {
	if r == nil {
		return backend.Gauge{}, false
	}
	g, err := r.read(ctx, readLimit)
	return g, err == nil
}

func (r *Reader) read(ctx context.Context, limit time.Duration) (backend.Gauge, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		return backend.Gauge{}, r.err
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	var a answer
	err := r.child.Ask(limited, "nvml", r.gpu, nil, &a, nil)
	if err == nil && a.Failed != "" {
		err = fmt.Errorf("nvml: %s", a.Failed)
	}
	if err != nil && ctx.Err() == nil { // what failed once is not asked again
		r.child.Kill()
		r.child, r.err = nil, err
	}
	return a.Gauge, err
}

// Close ends the reader.
func (r *Reader) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		r.child.Close(time.Second)
		r.child, r.err = nil, errors.New("nvml: closed")
	}
	return nil
}

// reasons are the bits of why a clock is lower than it could be, by name.
var reasons = []struct {
	bits uint64
	name string
}{
	{1 << 0, "idle"},
	{1 << 1, "set_clock"},
	{1 << 2, backend.ThrottledByPower},
	{1 << 3, backend.ThrottledByHardware},
	{1 << 4, "sync_boost"},
	{1<<5 | 1<<6, backend.ThrottledByHeat},
	{1 << 7, backend.ThrottledBySupply},
	{1 << 8, "display_clock"},
}

// throttles names bits, joined by +: none if there is none.
func throttles(bits uint64) string {
	var names []string
	for _, r := range reasons {
		if bits&r.bits != 0 {
			names = append(names, r.name)
			bits &^= r.bits
		}
	}
	if bits != 0 {
		names = append(names, fmt.Sprintf("%#x", bits))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "+")
}
