// Package layer says how a layer of a transformer may be spread over the devices of a pod,
// how long it then takes and how much memory it needs, and finds the mesh that takes least.
//
//	Find("llama3-70b") ─► Layer ─┐
//	model.FindSlice ─► chip, slice ─┼► Search ─► []Plan, the fastest first ─► Words
//	Ask: phase, sequences, length ─┘
//
// Everything here is predicted. The model:
//
//   - A device's products take the longer of their FLOPs at the peak and their bytes from
//     memory, a little more where both take equally long (model.Overlap). Sizes that do
//     not fill the matrix unit are rounded up to it.
//   - Exchanges take what model.Placement.Collective says.
//   - The likely time is compute, then wire; the least is the longer of the two, as if they
//     overlapped wholly, with every figure of the device at its fastest; the most is the sum
//     with every figure at its slowest, and attention's scores at SlowAttention of the peak.
//
// A plan fits if it needs no more than the chip's memory; of that libtpu keeps some for
// itself, a quarter of a GiB on v5e.
//
// Not counted: norms, rotary embeddings, routers and the host; experts are as busy as each
// other; of embeddings, the memory alone.
package layer
