package asmgen

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// encodedLine splits a line of assembly into its bytes, if it has any, and
// what the comment says they are.
func encodedLine(line string) (code, comment string) {
	code, comment, _ = strings.Cut(strings.TrimSpace(line), " // ")
	if !strings.HasPrefix(code, "BYTE $0x") {
		return "", comment
	}
	return strings.NewReplacer("BYTE $0x", "", ";", "").Replace(code), comment
}

// TestEncodings_Disassembled has GNU objdump read every instruction that the
// files hold as bytes, and wants it to be what the comment beside it says.
func TestEncodings_Disassembled(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("no objdump; TestOpcodes and TestTileOpcodes compare with its assembler's bytes")
	}
	var bytes []byte
	var want []string
	seen := map[string]bool{}
	for _, file := range Files() {
		for line := range strings.Lines(string(file)) {
			code, comment := encodedLine(line)
			if code == "" || seen[code+comment] {
				continue
			}
			seen[code+comment] = true
			want = append(want, comment)
			for _, hex := range strings.Fields(code) {
				b, err := strconv.ParseUint(hex, 16, 8)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				bytes = append(bytes, byte(b))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn", path).CombinedOutput()
	if err != nil {
		t.Fatalf("objdump: %v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if address, instruction, ok := strings.Cut(line, ":\t"); ok && strings.TrimSpace(address) != "" {
			got = append(got, strings.Join(strings.Fields(instruction), " "))
		}
	}
	if strings.Contains(string(out), "(bad)") {
		t.Skipf("this objdump is too old:\n%s", out)
	}
	for i := range min(len(got), len(want)) {
		if gnu(want[i]) != got[i] {
			t.Fatalf("%q is %q for objdump, want %q", want[i], got[i], gnu(want[i]))
		}
	}
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("objdump reads %d instructions of %d", len(got), len(want))
	}
	t.Logf("%d instructions", len(got))
}

var (
	address  = regexp.MustCompile(`(-?\d*)\((\w+)\)(\((\w+)\*1\))?`)
	register = regexp.MustCompile(`\b([TYZ])(\d+)\b`)
)

// gnu spells an instruction as objdump does.
func gnu(s string) string {
	mnemonic, operands, _ := strings.Cut(s, " ")
	switch {
	case mnemonic == "VPDPBUSD" || mnemonic == "VPDPWSSD":
		mnemonic = "{vex} " + mnemonic
	case operands == "":
		return strings.ToLower(mnemonic)
	}
	operands = address.ReplaceAllStringFunc(operands, func(s string) string {
		m := address.FindStringSubmatch(s)
		name := func(r string) string {
			if r[0] != 'R' {
				r = "R" + r
			}
			return "%" + strings.ToLower(r)
		}
		at := ""
		if n, _ := strconv.Atoi(m[1]); n != 0 || m[2] == "R13" || m[2] == "BP" {
			at = "0x" + strconv.FormatInt(int64(n), 16)
		}
		if at += "(" + name(m[2]); m[4] != "" {
			at += "," + name(m[4]) + ",1"
		}
		return at + ")"
	})
	operands = register.ReplaceAllStringFunc(operands, func(r string) string {
		return "%" + map[byte]string{'T': "tmm", 'Y': "ymm", 'Z': "zmm"}[r[0]] + r[1:]
	})
	return strings.ToLower(mnemonic) + " " + strings.ReplaceAll(operands, ", ", ",")
}
