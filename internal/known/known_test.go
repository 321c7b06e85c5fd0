package known

import "testing"

func TestFind(t *testing.T) {
	type fruit struct {
		name  string
		seeds int
	}
	all := []fruit{{"apple", 5}, {"plum", 1}}
	name := func(f fruit) string { return f.name }
	if f, err := Find("fruit", "plum", all, name); f != all[1] || err != nil {
		t.Errorf("have %v, %v", f, err)
	}
	const want = `unknown fruit "Plum" (known: apple, plum)`
	if f, err := Find("fruit", "Plum", all, name); f != (fruit{}) || err == nil || err.Error() != want {
		t.Errorf("have %v, %v, want %s", f, err, want)
	}
}
