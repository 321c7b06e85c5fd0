package results

import (
	"regexp"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/problem"
)

// Integer reports whether the row's operations are on integers, so that its
// rates are OP/s and not FLOP/s.
func (r *Record) Integer() bool {
	whole := func(dtype string) bool {
		return strings.HasPrefix(dtype, "int") || strings.HasPrefix(dtype, "uint")
	}
	return whole(r.DtypeA) && (r.DtypeB == "" || whole(r.DtypeB))
}

// Blocks names the block shape bm×bk×bn, without sides that the family has not; "" if
// the row has none.
func (r *Record) Blocks() string {
	sides := each.That([]int{r.BM, r.BK, r.BN}, func(side int) bool { return side > 0 })
	return strings.Join(each.Of(sides, strconv.Itoa), "×")
}

// Dtypes names operands and output: float32, int8×int8→int32 where they
// differ, or mxfp4→bfloat16 where scales of groups make operands a format.
func (r *Record) Dtypes() string {
	if name := problem.FormatNames(r.DtypeA, r.DtypeB, problem.Quant(r.Quant)); name != "" && r.Quant != "" {
		return name + "→" + r.DtypeOut
	}
	if (r.DtypeB == r.DtypeA || r.DtypeB == "") && (r.DtypeOut == r.DtypeA || r.DtypeOut == "") {
		return r.DtypeA
	}
	name := r.DtypeA
	if r.DtypeB != "" {
		name += "×" + r.DtypeB
	}
	if r.DtypeOut != "" {
		name += "→" + r.DtypeOut
	}
	return name
}

// Product is what is computed, whatever the size: dtypes, and what is not usual of
// precision, quantization, epilogue and options.
func (r *Record) Product() string {
	words := []string{r.Dtypes()}
	if r.Precision != "" && r.Precision != "default" {
		words = append(words, "precision "+r.Precision)
	}
	return strings.Join(strings.Fields(strings.Join(append(words, r.Quant, r.Activation, r.Options), " ")), " ")
}

// Peer reports whether r is of a library that kernels are compared with: its name
// is the kernel and the backend alike.
func (r *Record) Peer() bool { return r.Kernel != "" && r.Kernel == r.Backend }

// fileHash begins the version of what a file has: a function or a program that somebody wrote.
var fileHash = regexp.MustCompile(`^[0-9a-f]{8}\b`)

// PeerVersion is what tells a peer from others of its name: its version, or of a function or a
// program in a file the hash, which the versions behind it in column plugin_version do not change.
func (r *Record) PeerVersion() string {
	if hash := fileHash.FindString(r.PluginVersion); hash != "" {
		return hash
	}
	return r.PluginVersion
}

// PeerName is a peer's name with its version and variant, as tables and pictures show it.
func (r *Record) PeerName() string {
	return strings.Join(strings.Fields(r.Kernel+" "+r.PeerVersion()+" "+r.Variant), " ")
}
