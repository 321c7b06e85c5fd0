package plots

import (
	"slices"
	"strings"

	"matladder/internal/words"
	"matladder/results"
)

// A facet is something in which two points of one kernel and size may differ.
// What is the same for a whole chart stands in its subtitle; what differs
// stands in the labels of the curves, whether it was asked for or not.
type facet struct {
	name  string
	plain bool // an empty text means the plain case; otherwise, that the row does not say
	of    func(r *results.Record) string
}

var facets = []facet{
	{"family", true, (*results.Record).FamilyWord},
	{"dtypes", false, (*results.Record).Dtypes},
	{"variant", true, func(r *results.Record) string { return r.Variant }},
	{"quant", true, func(r *results.Record) string { return r.Quant }},
	{"activation", true, func(r *results.Record) string { return r.Activation }},
	{"options", true, func(r *results.Record) string { return r.Options }},
	{"precision", true, func(r *results.Record) string { return words.Between("precision ", r.Precision, "") }},
	{"acc", false, func(r *results.Record) string { return words.Between("acc ", r.DtypeAcc, "") }},
	{"mode", false, func(r *results.Record) string { return string(r.Mode) }},
	{"device", false, deviceOf},
	{"host", false, func(r *results.Record) string { return words.Between("host ", r.Host, "") }},
	{"backend", false, func(r *results.Record) string { return words.Between("backend ", r.Backend, "") }},
	{"plugin", false, func(r *results.Record) string { return strings.TrimSpace(r.Plugin + " " + r.PluginVersion) }},
	{"method", false, func(r *results.Record) string { return words.Between("method ", string(r.Method), "") }},
	{"isa", false, func(r *results.Record) string { return r.ISA }},
	{"threads", false, func(r *results.Record) string { return words.Counted(r.Threads, "thread", 1) }},
	{"devices", true, func(r *results.Record) string { return words.Counted(r.Devices, "device", 2) }},
	{"mesh", true, func(r *results.Record) string { return words.Between("mesh ", r.Mesh, "") }},
	{"cache", true, func(r *results.Record) string { return words.Between("", r.Cache, " caches") }},
	{"pin", true, func(r *results.Record) string { return words.Between("pinned to ", r.Pin, "") }},
	{"fault", true, func(r *results.Record) string { return words.Between("fault ", r.Fault, "") }},
	{"operands", false, func(r *results.Record) string { return words.Between("operands in ", r.Operands, "") }},
	{"dist", false, func(r *results.Record) string { return words.Between("inputs ", r.Dist, "") }},
	{"version", false, func(r *results.Record) string { return words.Between("matladder ", r.MatladderVersion, "") }},
}

// differ reports whether records disagree in the facet.
func (f facet) differ(records []*results.Record) bool {
	seen := ""
	for i, r := range records {
		text := f.of(r)
		switch {
		case text == "" && !f.plain:
		case i == 0 || seen == "" && !f.plain:
			seen = text
		case text != seen:
			return true
		}
	}
	return false
}

// shared returns the texts of the named facets in which all records agree.
func shared(records []*results.Record, names ...string) []string {
	var list []string
	for _, f := range facets {
		if !slices.Contains(names, f.name) || f.differ(records) {
			continue
		}
		for _, r := range records {
			if text := f.of(r); text != "" {
				list = append(list, text)
				break
			}
		}
	}
	return list
}

// lineID is what the points of one curve share besides the kernel: the texts of all facets.
func lineID(r *results.Record) string {
	var id strings.Builder
	for _, f := range facets {
		id.WriteString(f.of(r))
		id.WriteByte(0)
	}
	return id.String()
}
