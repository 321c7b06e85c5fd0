package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/internal/words"
)

// tools are LLVM's: one that reads machine code, and one that runs a loop through a model
// of a processor.
type tools struct{ mc, mca string }

// findTools looks for both in PATH; nil if one is not there.
func findTools() *tools {
	mc, err := exec.LookPath("llvm-mc")
	mca, err2 := exec.LookPath("llvm-mca")
	if err != nil || err2 != nil {
		return nil
	}
	return &tools{mc, mca}
}

// triple and features describe this program's code to llvm-mc.
func target() (triple, features string) {
	if runtime.GOARCH == "arm64" {
		return "aarch64", "+v8.6a"
	}
	return "x86_64", "+avx2,+fma,+avxvnni,+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8"
}

// An instruction is one of them as LLVM writes it.
type instruction struct {
	text   string
	offset int
	jump   int // offset that it jumps to; -1 if it is no jump
}

var (
	encoding = regexp.MustCompile(`^\t(.*\S)\s+(?:#|//) encoding: \[([^\]]*)\]`)
	branch   = regexp.MustCompile(`^(?:j\w+|b\.?\w*|cbn?z)\t(?:.*,\s*)?#?(-?\d+)$`)
)

// disassemble has llvm-mc read code.
func (t *tools) disassemble(ctx context.Context, code []byte) ([]instruction, error) {
	triple, features := target()
	var in bytes.Buffer
	for _, b := range code {
		fmt.Fprintf(&in, "0x%02x ", b)
	}
	cmd := exec.CommandContext(ctx, t.mc, "--disassemble", "--show-encoding", "--triple="+triple, "-mattr="+features)
	cmd.Stdin = &in
	out, err := cmd.Output() // with warnings of bytes behind the end, which pad
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("llvm-mc: %w", err)
	}
	var list []instruction
	offset := 0
	for line := range strings.Lines(string(out)) {
		m := encoding.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n := instruction{text: m[1], offset: offset, jump: -1}
		begin := offset
		offset += strings.Count(m[2], ",") + 1
		if j := branch.FindStringSubmatch(n.text); j != nil {
			by, _ := strconv.Atoi(j[1])
			if n.jump = offset + by; runtime.GOARCH == "arm64" { // which counts from the jump itself
				n.jump = begin + by
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// hotLoop is the loop that multiplies; all of them if there is none.
func hotLoop(list []instruction) []instruction {
	var loops []loop
	for i, n := range list {
		if n.jump < 0 || n.jump > n.offset {
			continue
		}
		if at := slices.IndexFunc(list, func(o instruction) bool { return o.offset == n.jump }); at >= 0 {
			loops = append(loops, loop{at, i})
		}
	}
	return hottest(list, loops, textOf)
}

func textOf(n instruction) string { return n.text }

// A pressureReport is what of llvm-mca's is used.
type pressureReport struct {
	CodeRegions []struct {
		ResourcePressureView struct {
			ResourcePressureInfo []struct {
				InstructionIndex, ResourceIndex int
				ResourceUsage                   float64
			}
		}
		SummaryView struct {
			BlockRThroughput        float64
			Iterations, TotalCycles int
		}
	}
	cpu        string // that was asked for
	TargetInfo struct {
		CPUName   string
		Resources []string
	}
}

// processors are the models to try in turn: the one that is asked for, or this machine's, and
// those that know its instructions.
func processors(asked string) []string {
	switch {
	case asked != "":
		return []string{asked}
	case runtime.GOARCH == "arm64":
		return []string{"native", "neoverse-n1", "apple-m1"}
	}
	return []string{"native", "znver5", "znver4", "sapphirerapids", "skylake-avx512"}
}

// pressure runs a loop a hundred times in llvm-mca.
func (t *tools) pressure(ctx context.Context, loop []instruction, asked string) (*pressureReport, error) {
	var text strings.Builder
	for _, n := range loop {
		text.WriteString(n.text + "\n")
	}
	triple, _ := target()
	var first error
	for _, cpu := range processors(asked) {
		cmd := exec.CommandContext(ctx, t.mca, "-mtriple="+triple, "-mcpu="+cpu, "-json", "-iterations=100")
		cmd.Stdin = strings.NewReader(text.String())
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		report := &pressureReport{cpu: cpu}
		if err == nil {
			err = json.Unmarshal(out, report)
		}
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		switch {
		case err == nil && strings.Contains(said.String(), "not a recognized processor"):
			err = fmt.Errorf("it does not know %s", cpu)
		case err == nil && (len(report.CodeRegions) != 1 || report.CodeRegions[0].SummaryView.Iterations == 0):
			err = fmt.Errorf("it says nothing of a loop")
		case err == nil && asked == "" && slices.Contains([]string{"generic", "x86-64"}, report.TargetInfo.CPUName):
			err = fmt.Errorf("it does not know this processor")
		case err == nil:
			return report, nil
		case line != "":
			err = fmt.Errorf("%s", strings.TrimPrefix(line, "error: "))
		}
		first = cmp.Or(first, err)
	}
	return nil, fmt.Errorf("llvm-mca: %w", first)
}

// annotate writes the loop with how many cycles of each port every instruction takes.
func (t *tools) annotate(ctx context.Context, w *strings.Builder, r backend.Routine, asked string) error {
	list, err := t.disassemble(ctx, r.Code)
	if err != nil {
		return err
	}
	loop := hotLoop(list)
	report, err := t.pressure(ctx, loop, asked)
	if err != nil {
		return err
	}
	region, ports := report.CodeRegions[0], report.TargetInfo.Resources
	cycles := float64(region.SummaryView.TotalCycles) / float64(region.SummaryView.Iterations)
	multiplications := products(loop, textOf)
	usage := each.Upto(len(loop)+1, func(int) []float64 { return make([]float64, len(ports)) }) // the last is the sum
	for _, u := range region.ResourcePressureView.ResourcePressureInfo {
		if u.InstructionIndex < len(usage) && u.ResourceIndex < len(ports) {
			usage[u.InstructionIndex][u.ResourceIndex] = u.ResourceUsage
		}
	}
	total := usage[len(loop)]
	var used []int
	for i := range ports {
		if total[i] > 0 {
			used = append(used, i)
		}
	}
	fullest := ""
	if len(used) > 0 {
		at := slices.MaxFunc(used, func(i, j int) int { return cmp.Compare(total[i], total[j]) })
		fullest = fmt.Sprintf("; the fullest port, %s, is busy %.0f %% of them", ports[at], 100*total[at]/cycles)
	}
	model := report.TargetInfo.CPUName + " as llvm-mca models it" + words.When(asked == "" && report.cpu != processors("")[0], ", which does not know this processor")
	fmt.Fprintf(w, "  the loop that multiplies, %s of %d, on %s; caches hit always:\n", words.Count(len(loop), "instruction"), len(list), model)
	fmt.Fprintf(w, "  %.1f cycles a turn, at least %.1f; %s in it, %.2f a cycle%s\n\n", cycles, region.SummaryView.BlockRThroughput, words.Count(multiplications, "multiplication"), float64(multiplications)/cycles, fullest)
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	row := func(cells []float64, text string) {
		for _, i := range used {
			cell := "."
			if cells[i] > 0 {
				cell = fmt.Sprintf("%.2f", cells[i])
			}
			fmt.Fprint(tw, cell+"\t")
		}
		fmt.Fprintf(tw, "  %s\n", text)
	}
	prefix := commonPrefix(ports)
	for _, i := range used {
		fmt.Fprint(tw, strings.TrimPrefix(ports[i], prefix)+"\t")
	}
	fmt.Fprintln(tw, "  cycles of each port")
	for i, n := range loop {
		row(usage[i], strings.ReplaceAll(n.text, "\t", " "))
	}
	row(total, "all")
	return tw.Flush()
}

// commonPrefix is what all names begin with: that of the model.
func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	prefix := names[0]
	for _, n := range names {
		for !strings.HasPrefix(n, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}
