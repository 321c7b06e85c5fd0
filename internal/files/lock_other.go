//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package files

import "os"

// TryLock does nothing: this system has no lock that dies with its holder.
func TryLock(*os.File) error { return nil }

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }
