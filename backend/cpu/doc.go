// Package cpu runs tile programs on the cores of this machine, without cgo:
//
//		tile.Program ─► passes (compile.go) ─► plan ─► workers ─► internal/gemm
//
//	 1. Verify the program; see each ref's block as a matrix; match statements
//	    into steps: fill, compute, when.
//	 2. Fuse a zeroing fill into the accumulation that follows it, so that the
//	    micro-kernel stores instead of adding. Put a product that scratch only
//	    carries to the next statement into that one's value. Let values of the same
//	    rows go along them together, some rows at a time, so that a row that several
//	    need is read once.
//	 3. Lay out the operands of each product: which packed format, in pieces of
//	    which depth. A b that few rows of a meet is read where it lies, and so is an
//	    a whose rows tiles of AMX load well. What is stored in fewer bits than it is
//	    multiplied in is widened on the way, some hundred rows at a time, and stays
//	    in L2 until it is packed or multiplied. An output that tiles write once may be
//	    scaled, have a bias added and be rounded to bfloat16 as they write it, and
//	    goes past the caches if L2 would not hold it. Compile everything else of a
//	    value, the epilogue, into vectors along rows.
//	 4. Schedule the grid: parallel axes are split over workers, arbitrary axes
//	    run in order inside one of them. Workers go along rows of the grid, each with
//	    blocks of a; where no a is packed along columns, each with blocks of b.
//	 5. Plan the buffers: blocks of b packed once into a cache that all workers
//	    share, or by each worker for its columns; blocks of a and everything else in
//	    memory of one worker.
//
// A grid step brings the blocks whose index changed into packed buffers and
// multiplies those. The same passes compile every kernel; none is recognized.
// Explain returns what each pass decided as a Plan, which prints itself: go run
// ./cmd/inspect v4 --as cpu. A change of a pass must change it too: tests hold plans
// to what executions are seen to do.
//
// What no pass understands is refused with backend.ErrUnsupported, naming the
// operation, the ref and the line of the kernel. Packing is part of every
// launch: nothing is kept from one launch to the next.
package cpu
