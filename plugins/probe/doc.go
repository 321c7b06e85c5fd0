// Package probe loads a PJRT plugin in a child process and says what works.
//
//  1. Run starts the same executable again (package internal/child); Child, called
//     first thing in main (and in TestMain), answers there.
//  2. Step by step the child loads the library, reads the header of its table of
//     functions and, if asked, creates a client: a plugin may crash or hang in any.
//  3. Run ends the child at a time limit, and turns what is known into a Report.
//
// A plugin is never loaded into the parent: it may print, crash, hang, start
// threads and read the environment as it likes. Loading works on Linux, on amd64
// and arm64, with or without cgo; elsewhere Run says so.
package probe
