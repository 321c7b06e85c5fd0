// Package sharded lists the rungs of products of several devices, from one chip that copies
// its own blocks to sums that are scattered while they are made. Each folder has one, with
// the idea that it adds; package shards has what they share.
package sharded

import (
	chip "matladder/kernels/sharded/v1_chip"
	gather "matladder/kernels/sharded/v2_gather"
	ring "matladder/kernels/sharded/v3_ring"
	both "matladder/kernels/sharded/v4_both"
	scatter "matladder/kernels/sharded/v5_scatter"
	"matladder/problem"
)

// All are the rungs of products, the first first; v6_experts is of another problem. What one
// builds runs on every device.
var All = []problem.Rung[problem.Sharded]{chip.Kernel, gather.Kernel, ring.Kernel, both.Kernel, scatter.Kernel}
