package plan

// A Memo is a number that is the same in all of a program.
type Memo struct{ program, value int }

// Once is x, which is called once in each program, as rows all ask for it.
func (f *Frame) Once(memo int, x func(f *Frame) int) int {
	m := &f.Memos[memo]
	if m.program != f.Programs {
		*m = Memo{f.Programs, x(f)}
	}
	return m.value
}
