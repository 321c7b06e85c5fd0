// Package process runs the matmul of another library of this machine (OpenBLAS,
// oneDNN, BLIS, MKL, LIBXSMM), or attention and other families of PyTorch, as a backend that solves
// problems and does nothing else, so that the harness measures it beside the kernels.
//
//  1. Find looks for the libraries that are installed; nothing is linked.
//  2. Program is what asks a library: the C program in source/, which Build compiles once
//     for each version of it with whatever C compiler there is, or for PyTorch and functions of
//     Python files runner.py in python/, which calls what a file has.
//  3. Open runs that program on a library to learn its version and its products; OpenPython
//     has it import a user's file.
//  4. Solve starts a process for each problem; Python, which takes seconds to import what a
//     file needs, has one that goes on to the next problem when it is done with another. Requests go to
//     it as lines of text and arrays, as package internal/child has them; it takes the
//     time around plain calls (method direct).
//  5. Inputs come from their seed as everywhere, and the output comes back to be
//     verified with the same reference as a kernel's (package backend/seeded).
//
// A process has one problem at a time, so a library that crashes or hangs costs that
// problem alone. Between two requests it is stopped: threads of some libraries
// spin for a while after a product, on the cores of whoever is measured next.
//
// The package needs Linux and, but for Python, a C compiler, but no header of any library. What it
// does not do: install a library, choose the threads of one by other means than
// its environment and its cores, or run tile programs.
package process
