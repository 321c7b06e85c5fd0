//go:build !(linux || darwin)

package plugins

import "errors"

func exchange(a, b string) error { return errors.ErrUnsupported }
