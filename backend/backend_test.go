package backend

import "testing"

func TestTooBigError(t *testing.T) {
	for _, test := range []struct {
		err  TooBigError
		want string
	}{
		{TooBigError{"VMEM", 1023, 10}, "too big: needs 1023 bytes of VMEM, has 10 bytes"},
		{TooBigError{"memory", 3 << 29, 1 << 20}, "too big: needs 1.5 GiB of memory, has 1.0 MiB"},
		{TooBigError{"device memory", 5000 << 40, 0}, "too big: needs 5000.0 TiB of device memory"},
	} {
		if have := test.err.Error(); have != test.want {
			t.Errorf("have %q, want %q", have, test.want)
		}
	}
}
