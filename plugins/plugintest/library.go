package plugintest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Behaviour is what a library's entry point does.
type Behaviour int

// The behaviours. A Healthy plugin has a table of functions with a version but
// without functions, so that it loads and has no client.
const (
	Healthy   Behaviour = iota
	Crash               // executes no instruction
	Hang                // loops for ever
	Nothing             // returns a null pointer
	NoEntry             // exports another name
	BadHeader           // returns a table whose size makes no sense
)

// The version of the table that a Healthy plugin returns.
const (
	Major = 0
	Minor = 97
)

// code is the entry point for a behaviour, 16 bytes; those that return the table
// expect it right behind.
var code = map[string]map[Behaviour][]byte{
	"amd64": {
		Healthy: {0x48, 0x8D, 0x05, 9, 0, 0, 0, 0xC3}, // LEAQ 9(RIP), AX; RET
		Crash:   {0x0F, 0x0B},                         // UD2
		Hang:    {0xEB, 0xFE},                         // JMP self
		Nothing: {0x31, 0xC0, 0xC3},                   // XORL AX, AX; RET
	},
	"arm64": {
		Healthy: {0x80, 0, 0, 0x10, 0xC0, 0x03, 0x5F, 0xD6}, // ADR 16(PC), R0; RET
		Crash:   {0, 0, 0, 0},                               // UDF
		Hang:    {0, 0, 0, 0x14},                            // B self
		Nothing: {0, 0, 0x80, 0xD2, 0xC0, 0x03, 0x5F, 0xD6}, // MOVD $0, R0; RET
	},
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Library returns a shared library for Linux on an architecture, amd64 or arm64.
//
// It is one segment, mapped at 0, that holds in order: the headers, a symbol table of two, their
// names, a hash table of one chain, the dynamic section, the entry point and the table of
// functions. A section table lets tools find the symbols.
func Library(arch string, b Behaviour) []byte {
	name, body, size := "GetPjrtApi", code[arch][b], uint64(40)
	switch b {
	case NoEntry:
		name, body = "GetOtherApi", code[arch][Nothing]
	case BadHeader:
		body, size = code[arch][Healthy], 1<<40
	}
	const (
		headers = 64 + 2*56
		symbols = headers
		strings = symbols + 2*24
		hash    = strings + 16
		dynamic = hash + 5*4 + 4
		entry   = dynamic + 6*16
		table   = entry + 16
		end     = table + 40
	)
	var f bytes.Buffer
	put := func(vs ...any) {
		for _, v := range vs {
			binary.Write(&f, binary.LittleEndian, v)
		}
	}
	put(elf.Header64{
		Ident: [16]byte{0x7F, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(machines[arch]), Version: 1,
		Phoff: 64, Shoff: end, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: 3,
	})
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: end, Memsz: end, Align: 0x10000})
	put(elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R), Off: dynamic, Vaddr: dynamic, Filesz: 6 * 16, Memsz: 6 * 16, Align: 8})
	put(elf.Sym64{}, elf.Sym64{Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 2, Value: entry, Size: 16})
	put(padded([]byte("\x00"+name), 16))
	put([]uint32{1, 2, 1, 0, 0, 0}) // buckets, symbols, bucket 0, chains of both, padding
	for _, d := range []elf.Dyn64{
		{Tag: int64(elf.DT_HASH), Val: hash}, {Tag: int64(elf.DT_SYMTAB), Val: symbols}, {Tag: int64(elf.DT_STRTAB), Val: strings},
		{Tag: int64(elf.DT_STRSZ), Val: 16}, {Tag: int64(elf.DT_SYMENT), Val: 24}, {},
	} {
		put(d)
	}
	put(padded(body, 16))
	put(size, uint64(0), uint64(24), uint64(0), int32(Major), int32(Minor))
	put(elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_DYNSYM), Addr: symbols, Off: symbols, Size: 48, Link: 2, Info: 1, Entsize: 24},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Addr: strings, Off: strings, Size: 16})
	return f.Bytes()
}

func padded(b []byte, n int) []byte { return append(bytes.Clone(b), make([]byte, n-len(b))...) }
