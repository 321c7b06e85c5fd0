package tile

import "math"

// gridAxes: axes have a size and a name of their own.
func gridAxes(v *verifier) {
	for i, a := range v.program.Grid {
		if a == nil {
			v.errorf(Pos{}, "grid: axis %d is nil", i)
			continue
		}
		v.axis(a, v.program.Grid[:i])
	}
}

func (v *verifier) axis(a *Axis, before []*Axis) {
	if a.Name == "" {
		v.errorf(a.pos, "an axis needs a name")
	}
	if a.Size < 1 {
		v.errorf(a.pos, "axis %s: size %d: an axis needs at least one program", a.Name, a.Size)
	}
	for _, b := range before {
		if b != nil && a.Name == b.Name {
			v.errorf(a.pos, "axis %s: there is an axis of this name already", a.Name)
		}
	}
}

// gridSize: the number of programs can be counted.
func gridSize(v *verifier) {
	steps := int64(1)
	for _, a := range v.program.Grid {
		if a == nil || a.Size < 1 {
			return
		}
		if steps > math.MaxInt64/int64(a.Size) {
			v.errorf(a.pos, "axis %s: size %d: the grid has more programs than 64 bits can count", a.Name, a.Size)
			return
		}
		steps *= int64(a.Size)
	}
}
