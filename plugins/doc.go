// Package plugins finds and installs PJRT plugins: the shared libraries through
// which programs reach XLA on a CPU, a TPU or an NVIDIA GPU.
//
//  1. Known is the table of plugins: which wheels of the Python package index
//     make one up, at which version, with which SHA-256.
//  2. Install asks the index for the files of those wheels and picks the ones
//     for this machine that the table knows by their whole name; any other only
//     if it was asked for as unpinned (index.go, pins.go, wheel.go).
//  3. It downloads all of them, resuming where an earlier attempt stopped, and
//     compares the SHA-256 with the table's, whatever the index says, or of an
//     unpinned one with the index's (download.go).
//  4. It unpacks the libraries, what they run, and the licences into a folder
//     beside the final one, has the library checked, and renames the folder: a
//     plugin is there whole or not at all (wheel.go, install.go).
//  5. List and Find read what is installed. Find returns only what is known, or was
//     asked for as unpinned; Verify reads the files again (folder.go, pins.go).
//
// Plugins live in MATLADDER_PLUGINS, or matladder/plugins in the user's cache
// folder. What the package does not do: load a plugin (package probe does, in a
// child process), or touch a Python installation.
package plugins
