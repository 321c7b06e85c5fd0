package aot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"matladder/internal/childlog"
)

// GPUKernel is one kernel as it will be launched on a GPU.
type GPUKernel struct {
	Name        string
	Grid        [3]int // thread blocks
	Threads     int    // of a block
	SharedBytes int    // of a block, static and dynamic
	Registers   int    // of a thread
	// Accumulators are those of the registers that only matrix units add in: AMD's AGPRs.
	Accumulators int `json:",omitempty"`
	SpillBytes   int // that a thread stores where its registers do not suffice, and loads again

	// Instructions counts what the kernel's text has, not what it runs: of the
	// machine's own code (SASS, or assembly of AMD's) if Disassembled, else of PTX. Keys are the
	// opcode without modifiers (HGMMA, LDGSTS; wgmma, cp.async), and "total"; of AMD's the
	// opcode as it is, and "v_mfma" for all of the matrix units.
	Instructions map[string]int
	Disassembled bool
}

// blocksPerCore is how many blocks of the kernel share a multiprocessor, 0 if not even one fits.
func (g GPU) blocksPerCore(k GPUKernel) int {
	warps := max(1, (k.Threads+g.Warp-1)/g.Warp)
	n := g.Threads / g.Warp / schedulers // of one scheduler
	if registers := (k.Registers + registerUnit - 1) / registerUnit * registerUnit; registers > 0 {
		n = min(n, laneRegisters/registers)
	}
	return min(schedulers*n/warps, g.SharedBytes/max(1, k.SharedBytes+g.Reserved), 32)
}

// launchLine is a kernel in the list of what XLA launches, one a line; what else it
// does (copies, library calls) has no grid.
var launchLine = regexp.MustCompile(`(?m)^\s*\d+: \S+ .*?(\S+) grid: \[(\d+), (\d+), (\d+)\] threads: \[(\d+), (\d+), (\d+)\]\s+shared_memory: (\d+) bytes`)

// launches reads the kernels off XLA's list of launches.
func launches(sequence string) []GPUKernel {
	var kernels []GPUKernel
	for _, m := range launchLine.FindAllStringSubmatch(sequence, -1) {
		var n [7]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[2+i])
		}
		kernels = append(kernels, GPUKernel{Name: m[1], Grid: [3]int(n[:3]), Threads: n[3] * n[4] * n[5], SharedBytes: n[6]})
	}
	return kernels
}

// resources is what ptxas says of one kernel.
type resources struct{ registers, shared, spills int }

var (
	ptxasEntry     = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	ptxasSpills    = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	ptxasRegisters = regexp.MustCompile(`Used (\d+) registers`)
	ptxasShared    = regexp.MustCompile(`(\d+) bytes smem`)
)

// resourcesOf reads what ptxas -v prints, by kernel.
func resourcesOf(said string) map[string]resources {
	all, name := map[string]resources{}, ""
	for line := range strings.Lines(said) {
		if m := ptxasEntry.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		r := all[name]
		if m := ptxasSpills.FindStringSubmatch(line); m != nil {
			stores, _ := strconv.Atoi(m[1])
			loads, _ := strconv.Atoi(m[2])
			r.spills = max(stores, loads)
		}
		if m := ptxasRegisters.FindStringSubmatch(line); m != nil {
			r.registers, _ = strconv.Atoi(m[1])
		}
		if m := ptxasShared.FindStringSubmatch(line); m != nil {
			r.shared, _ = strconv.Atoi(m[1])
		}
		if name != "" {
			all[name] = r
		}
	}
	return all
}

var (
	ptxEntry       = regexp.MustCompile(`\.entry\s+([\w$.]+)`)
	ptxInstruction = regexp.MustCompile(`^\s+(?:@!?%p\d+\s+)?([a-z]\w*)((?:[.:]+\w+)*)\s`)
	ptxScaled      = regexp.MustCompile(`kind::(mxf4|mxf8f6f4)`) // products of numbers by scales of groups
	sassFunction   = regexp.MustCompile(`^\.text\.([\w$.]+):|^\s*\.section\s+\.text\.([\w$.]+)`)
	sassOpcode     = regexp.MustCompile(`^\s+(?:\{\s*)?/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)`)
)

// countPTX counts instructions by kernel.
func countPTX(text string) map[string]map[string]int {
	return count(text, func(line string) (kernel, opcode string) {
		if m := ptxEntry.FindStringSubmatch(line); m != nil {
			return m[1], ""
		}
		if m := ptxInstruction.FindStringSubmatch(line); m != nil {
			opcode = m[1]
			if strings.HasPrefix(m[2], ".async") {
				opcode += ".async"
			}
			if kind := ptxScaled.FindStringSubmatch(m[2]); kind != nil {
				opcode += "." + kind[1]
			}
		}
		return "", opcode
	})
}

// countSASS counts instructions by kernel.
func countSASS(text string) map[string]map[string]int {
	return count(text, func(line string) (kernel, opcode string) {
		if m := sassFunction.FindStringSubmatch(line); m != nil {
			return m[1] + m[2], ""
		}
		if m := sassOpcode.FindStringSubmatch(line); m != nil {
			return "", m[1]
		}
		return "", ""
	})
}

func count(text string, read func(line string) (kernel, opcode string)) map[string]map[string]int {
	all, in := map[string]map[string]int{}, map[string]int(nil)
	for line := range strings.Lines(text) {
		kernel, opcode := read(line)
		if kernel != "" {
			if all[kernel] == nil {
				all[kernel] = map[string]int{}
			}
			in = all[kernel]
		}
		if opcode != "" && in != nil {
			in[opcode]++
			in["total"]++
		}
	}
	return all
}

// gpuTools are programs of NVIDIA's that read what XLA leaves.
type gpuTools struct {
	ptxas    string
	nvdisasm string // "" where there is none: instructions are then those of PTX
}

// read reads the dump of a compilation for a GPU.
func (t gpuTools) read(ctx context.Context, _ Options, dump string, into *Compiled) error {
	sequence, err := os.ReadFile(only(dump, "*thunk_sequence.txt"))
	if err != nil {
		return errors.New("the compiler left no list of launches")
	}
	into.Kernels, into.Sequence = launches(string(sequence)), string(sequence)
	texts, _ := filepath.Glob(filepath.Join(dump, "*.ptx"))
	for _, file := range texts {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		used, sass, err := t.assemble(ctx, file, string(text))
		if err != nil {
			return err
		}
		ptx := countPTX(string(text))
		for i := range into.Kernels {
			k := &into.Kernels[i]
			r, here := used[k.Name]
			if !here {
				continue
			}
			k.Registers, k.SpillBytes, k.SharedBytes = r.registers, r.spills, k.SharedBytes+r.shared
			k.Instructions, k.Disassembled = ptx[k.Name], false
			if s := sass[k.Name]; s != nil {
				k.Instructions, k.Disassembled = s, true
			}
		}
	}
	return nil
}

// only is the one file of a pattern, or the last of several.
func only(folder, pattern string) string {
	files, _ := filepath.Glob(filepath.Join(folder, pattern))
	if len(files) == 0 {
		return filepath.Join(folder, pattern)
	}
	return files[len(files)-1]
}

var ptxTarget = regexp.MustCompile(`(?m)^\.target (\w+)`)

// assemble assembles a file of PTX as XLA does, and tells what each kernel in it
// takes and, where it can be disassembled, its instructions.
func (t gpuTools) assemble(ctx context.Context, file, text string) (map[string]resources, map[string]map[string]int, error) {
	target := ptxTarget.FindStringSubmatch(text)
	if target == nil {
		return nil, nil, fmt.Errorf("%s has no target", filepath.Base(file))
	}
	binary := strings.TrimSuffix(file, ".ptx") + ".cubin"
	said, err := tool(ctx, t.ptxas, "-v", "-arch="+target[1], file, "-o", binary)
	if err != nil {
		return nil, nil, err
	}
	used := resourcesOf(said)
	if t.nvdisasm == "" {
		return used, nil, nil
	}
	code, err := tool(ctx, t.nvdisasm, "-c", binary)
	if err != nil && ctx.Err() == nil { // an older disassembler than assembler
		return used, nil, nil
	}
	return used, countSASS(code), err
}

// tool runs a program and returns what it prints.
func tool(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	var out bytes.Buffer
	var last childlog.Writer
	both := io.MultiWriter(&out, &last)
	cmd.Stdout, cmd.Stderr = both, both
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s: %w; it said last: %s", filepath.Base(path), err, last.Line())
	}
	return out.String(), nil
}
