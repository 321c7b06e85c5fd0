//go:build !linux

package exec

import (
	"errors"
	"runtime"
)

func Processors() ([]int, error) {
	return nil, errors.New(runtime.GOOS + " does not let a program choose the cores of its threads, Linux does")
}

func bindThread(int) error { return nil }

func freeThread([]int) error { return nil }
