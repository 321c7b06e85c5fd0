package tile

// reductions: what reaches past an array is masked before it is reduced.
func reductions(v *verifier) {
	for _, e := range v.values {
		if e.Op != OpReduceMax && e.Op != OpReduceSum {
			continue
		}
		x := e.Args[0]
		if edges := v.padding().edges(x).of(e.Dim); len(edges) > 0 {
			v.errorf(e.Pos, "%s: dimension %d of [%s] may hold padding: %s: select with in_bounds(%s, %d) first",
				e.Op, e.Dim, shapeString(x.Shape), describe(edges[0].Ref), edges[0].Ref.Name, edges[0].Dim)
		}
	}
}

// contractions: what a Dot has to mask is known.
func contractions(v *verifier) {
	for _, e := range v.values {
		if e.Op != OpDot {
			continue
		}
		for _, edge := range v.padding().Contraction(e.Expr) {
			if edge.Plain() {
				continue
			}
			why := "was broadcast"
			switch {
			case edge.Unknown:
				why = "was left by another program or repetition, or moved by a slice"
			case edge.Maybe:
				why = "is there under some conditions only"
			}
			v.errorf(e.Pos, "dot: padding of %s along the contraction %s: select with in_bounds(%s, %d) where it is loaded",
				describe(edge.Ref), why, edge.Ref.Name, edge.Dim)
			break
		}
	}
}

// paddingStored: padding reaches an output only where the output ends too.
func paddingStored(v *verifier) {
	for _, s := range v.sites {
		if s.Ref == nil || s.Ref.Kind != Out {
			continue
		}
		left := v.padding().edges(s.Value).without(ownEdges(s.Ref))
		for d, edges := range left {
			if len(edges) > 0 {
				v.errorf(s.Pos, "%s: %s: dimension %d of the value may hold padding of %s: select with in_bounds(%s, %d), or let both arrays end in the same block",
					s.Kind, describe(s.Ref), d, describe(edges[0].Ref), edges[0].Ref.Name, edges[0].Dim)
				break
			}
		}
	}
}

// padding is the analysis that all rules share.
func (v *verifier) padding() *PartialTiles {
	if v.partial == nil {
		v.partial = v.program.PartialTiles()
	}
	return v.partial
}
