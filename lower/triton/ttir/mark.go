package ttir

import (
	"slices"
	"strings"
)

// operations of Triton that are read beside those of operands; others of its own are refused.
var known = strings.Fields(`tt.return tt.reduce tt.scan tt.histogram tt.gather tt.join tt.split tt.cat tt.bitcast tt.fp_to_fp tt.clampf
	tt.precise_sqrt tt.precise_divf tt.mulhiui tt.ptr_to_int tt.int_to_ptr tt.extern_elementwise tt.elementwise_inline_asm
	tt.map_elementwise tt.assert tt.print`)

// dialects whose operations only compute.
var computing = []string{"arith.", "math.", "scf.for", "scf.if", "scf.yield", "ub.", "llvm.intr.assume", "gpu.barrier"}

func (o *op) refuse() {
	_, counted := operands[o.name]
	if !counted && !slices.Contains(known, o.name) && !slices.ContainsFunc(computing, func(d string) bool { return strings.HasPrefix(o.name, d) }) {
		o.fail("%s is not read", o.name)
	}
}

func (o *op) loads() bool { return o.name == "tt.load" || o.name == "tt.descriptor_load" }

func (o *op) stores() bool {
	return slices.Contains([]string{"tt.store", "tt.descriptor_store", "tt.descriptor_reduce", "tt.atomic_rmw"}, o.name)
}

func (o *op) multiplies() bool { return o.name == "tt.dot" }

// direct reports whether a region has an operation outside of the loops in it.
func direct(ops []*op, is func(*op) bool) bool {
	return slices.ContainsFunc(ops, func(o *op) bool {
		return is(o) || o.name == "scf.if" && slices.ContainsFunc(o.regions, func(r []*op) bool { return direct(r, is) })
	})
}

// within reports whether a region has an operation anywhere.
func within(ops []*op, is func(*op) bool) bool {
	return slices.ContainsFunc(ops, func(o *op) bool {
		return is(o) || slices.ContainsFunc(o.regions, func(r []*op) bool { return within(r, is) })
	})
}

// perOperation is how many elements of a vector take about as long as an operation.
const perOperation = 64

func walk(ops []*op, f func(*op)) {
	for _, o := range ops {
		f(o)
		for _, r := range o.regions {
			walk(r, f)
		}
	}
}

// mark tells loops of which each iteration is a step (it multiplies; in a kernel that multiplies
// nothing, it loads or stores) and those of which each is a tile, as of a persistent kernel: it
// stores what steps inside of it made. What nothing depends on that is counted is taken out.
func (k *Kernel) mark() {
	k.dots = within(k.body, (*op).multiplies)
	step := (*op).multiplies
	if !k.dots {
		step = func(o *op) bool { return o.loads() || o.stores() }
	}
	walk(k.body, func(o *op) {
		if o.name == "scf.for" {
			o.step = direct(o.regions[0], step)
		}
	})
	walk(k.body, func(o *op) {
		if o.name == "scf.for" {
			o.tile = direct(o.regions[0], (*op).stores) && within(o.regions[0], func(o *op) bool { return o.step })
		}
		o.cost = 1
		for _, s := range append(slices.Clone(o.from), o.to...) {
			o.cost = max(o.cost, int64(slices.Max(append([]int{0}, s.dims...)))/perOperation)
		}
		o.acts = within([]*op{o}, func(o *op) bool { return o.loads() || o.stores() || o.multiplies() })
	})
	k.need()
	walk(k.body, func(o *op) {
		if o.step {
			o.lanes, o.special = k.arithmetic(o.regions[0])
		}
	})
	k.body = k.kept(k.body)
}

// arithmetic is how many elements a region computes that are no addresses: by operations of
// every lane, and by the special functions. Loops inside count for themselves; of branches
// that which computes more.
func (k *Kernel) arithmetic(ops []*op) (lanes, special int64) {
	for _, o := range ops {
		if o.name == "scf.if" {
			var most [2]int64
			for _, r := range o.regions {
				l, s := k.arithmetic(r)
				most = [2]int64{max(most[0], l), max(most[1], s)}
			}
			lanes, special = lanes+most[0], special+most[1]
			continue
		}
		if k.wanted(o) || len(o.from) == 0 || len(o.to) == 0 || len(o.from[0].dims) == 0 {
			continue
		}
		n := max(o.from[0].elements(), o.to[len(o.to)-1].elements())
		switch {
		case o.name == "arith.constant":
		case strings.HasPrefix(o.name, "math."):
			special += n
		case o.name == "arith.divf":
			lanes, special = lanes+n, special+n
		case strings.HasPrefix(o.name, "arith."), o.name == "tt.reduce", o.name == "tt.scan", o.name == "tt.fp_to_fp", o.name == "tt.clampf":
			lanes += n
		}
	}
	return lanes, special
}

// need finds what addresses, masks, conditions and trips depend on.
func (k *Kernel) need() {
	k.needed = make([]bool, k.slots)
	changed := true
	want := func(slots ...int) {
		for _, s := range slots {
			changed = changed || !k.needed[s]
			k.needed[s] = true
		}
	}
	var visit func(ops []*op, owner *op)
	visit = func(ops []*op, owner *op) {
		for _, o := range slices.Backward(ops) {
			switch {
			case o.name == "scf.yield" && owner != nil:
				for i, s := range o.args {
					if i < len(owner.results) && k.needed[owner.results[i]] || i+1 < len(owner.blockArg) && k.needed[owner.blockArg[i+1]] {
						want(s)
					}
				}
			case o.name == "scf.for":
				if o.acts || k.wanted(o) {
					want(o.args[:3]...)
				}
				for i, s := range o.args[3:] {
					if k.needed[o.blockArg[i+1]] || i < len(o.results) && k.needed[o.results[i]] {
						want(s, o.blockArg[i+1])
					}
				}
			case o.name == "scf.if":
				if o.acts || k.wanted(o) {
					want(o.args...)
				}
			case o.name == "tt.load":
				want(o.args[:min(2, len(o.args))]...)
			case o.name == "tt.descriptor_load":
				want(o.args...)
			case o.stores():
				for i, s := range o.args {
					if i != o.stored() {
						want(s)
					}
				}
			case k.wanted(o):
				want(o.args...)
			}
			for _, r := range o.regions {
				visit(r, o)
			}
		}
	}
	for changed {
		changed = false
		visit(k.body, nil)
	}
}

// wanted reports whether a result of an operation is needed.
func (k *Kernel) wanted(o *op) bool {
	return slices.ContainsFunc(o.results, func(s int) bool { return k.needed[s] })
}

// stored is which operand of a store is what it writes.
func (o *op) stored() int {
	if o.name == "tt.descriptor_store" || o.name == "tt.descriptor_reduce" {
		return len(o.args) - 1
	}
	return 1
}

func (k *Kernel) kept(ops []*op) []*op {
	return slices.DeleteFunc(slices.Clone(ops), func(o *op) bool {
		for i, r := range o.regions {
			o.regions[i] = k.kept(r)
		}
		return !o.acts && o.name != "scf.yield" && o.name != "tt.return" && !k.wanted(o)
	})
}
