package libtpu

import (
	"fmt"
	"os"
	"strings"

	"matladder/backend/internal/hlo"
)

// FlagsVariable is the environment variable of which libtpu reads its flags, once,
// when it is loaded.
const FlagsVariable = "LIBTPU_INIT_ARGS"

// vmemLimit is libtpu's option of how much VMEM a kernel of XLA's own may take, in
// KiB. A kernel that a program brings along says that for itself.
const vmemLimit = "xla_tpu_scoped_vmem_limit_kib"

// VMEMLimit are the options under which XLA's own kernels take at most a number of
// bytes of VMEM, none for 0. Less than a whole KiB is not counted.
func VMEMLimit(bytes int64) (hlo.Options, error) {
	switch {
	case bytes == 0:
		return nil, nil
	case bytes < 1<<10:
		return nil, fmt.Errorf("vmem_limit = %d: must be 1 KiB or more", bytes)
	}
	return hlo.Options{vmemLimit: bytes >> 10}, nil
}

// prefetch is libtpu's option of which operands may come to fast memory behind the launch
// before. Left alone it takes those that only XLA's own products read, and no kernel's: of a
// kernel that a program brings along it does not know whether what it reads are weights.
const prefetch = "xla_msa_cross_program_prefetch_permissive_mode"

// Prefetch are the options under which an operand of a kernel that a program brings along may
// come ahead, as one of XLA's own products does.
func Prefetch() hlo.Options { return hlo.Options{prefetch: true} }

// ownFlags are those that this project sets itself: what they say is in the rows, or
// is read back. Each with what to do instead.
var ownFlags = map[string]string{
	vmemLimit:          "--param vmem_limit=64MiB says it for XLA's matmul and the kernels alike, and the rows say it too",
	"xla_jf_dump_to":   "cmd/inspect shows schedules",
	"xla_jf_dump_llo_": "cmd/inspect shows schedules",
}

// UserFlags are the flags of the user's own environment. It is an error if they are
// to say what is said otherwise.
func UserFlags() (string, error) {
	flags := strings.Fields(os.Getenv(FlagsVariable))
	for _, f := range flags {
		name := strings.TrimPrefix(strings.TrimLeft(f, "-"), "no")
		for own, instead := range ownFlags {
			if strings.HasPrefix(name, own) {
				return "", fmt.Errorf("%s has %s: take it out of there: %s", FlagsVariable, f, instead)
			}
		}
	}
	return strings.Join(flags, " "), nil
}
