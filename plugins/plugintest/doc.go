// Package plugintest makes what tests of plugins need and no test should fetch:
//
//  1. Library returns a tiny shared library, written byte by byte, that is a
//     plugin, or no plugin, or one that crashes or hangs.
//  2. Wheel packs files into a wheel.
//  3. Index is a package index on this machine, which can be made to misbehave.
package plugintest
