package problem

// families are those of this program, in the order in which people see them: Register adds to them.
var families []*Family

func init() {
	Register(MatmulFamily)
	Register(SoftmaxFamily)
	Register(AttentionFamily)
	Register(NormFamily)
	Register(RopeFamily)
	Register(GroupedFamily)
	Register(MLPFamily)
}
