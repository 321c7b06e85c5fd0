"""compare.py FOLDER: holds what `go run ./tools/jaxcheck FOLDER` wrote to JAX's own
attention (jax.nn.dot_product_attention) and, where that has the case, to JAX's flash kernel
for TPUs in interpret mode. It prints a table and fails if a difference is above the limit."""

import functools
import json
import math
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas.ops.tpu import flash_attention as flash  # noqa: E402

LIMIT = 1e-5  # float32 on both sides, elements of some units at most
FOLDER = sys.argv[1]


def array(entry, name):
    kind = np.int32 if "segment" in name else np.float32
    path = os.path.join(FOLDER, entry["Folder"], name)
    x = np.fromfile(path, dtype=kind).reshape(entry["Arrays"][name])
    return np.nan_to_num(x, posinf=np.inf, neginf=-np.inf) if name in "qkv" else x  # JAX reads what no row sees


def own(entry, p):
    """jax.nn.dot_product_attention, whose heads are behind the rows."""
    q, k, v = (jnp.transpose(array(entry, n), (0, 2, 1, 3)) for n in "qkv")
    options = {}
    if p["Causal"] and not p["AtEnd"]:
        options["is_causal"] = True
    if p["Causal"] and p["AtEnd"]:
        ahead = np.arange(p["Keys"])[None, :] - np.arange(p["Rows"])[:, None]
        options["mask"] = jnp.asarray(ahead <= p["Keys"] - p["Rows"])[None, None]
    if p["Window"]:
        options["local_window_size"] = (p["Left"], p["Right"])
    if p["Segments"]:
        options["mask"] = jnp.asarray(array(entry, "row_segment") == array(entry, "key_segment"))[:, None]
    if p["Bias"]:
        options["bias"] = jnp.asarray(array(entry, "bias"))
    return np.transpose(np.asarray(jax.nn.dot_product_attention(q, k, v, **options)), (0, 2, 1, 3))


def pallas(entry, p):
    """The flash kernel, interpreted; None for what it does not have."""
    if p["Heads"] != p["KVHeads"] or p["Window"] or p["AtEnd"] or p["Bias"]:
        return None
    segments = None
    if p["Segments"]:
        segments = flash.SegmentIds(jnp.asarray(array(entry, "row_segment")[:, :, 0]), jnp.asarray(array(entry, "key_segment")[:, 0, :]))
    call = pl.pallas_call
    flash.pl.pallas_call = functools.partial(call, interpret=True)
    try:
        q, k, v = (jnp.asarray(array(entry, n)) for n in "qkv")
        return np.asarray(flash.flash_attention(q, k, v, None, segments, causal=p["Causal"], sm_scale=1 / math.sqrt(p["Dim"])))
    finally:
        flash.pl.pallas_call = call


def seen(entry, p):
    """Rows that see a key: in the others we have 0, JAX a mean or no number."""
    rows = np.ones((p["Batch"], p["Heads"], p["Rows"]), bool)
    if p["Segments"]:
        rows &= (array(entry, "row_segment") == array(entry, "key_segment")).any(-1)[:, None]
    if p["Bias"]:
        rows &= np.isfinite(array(entry, "bias")).any(-1)
    return rows


def main():
    worst = 0.0
    print(f"Largest difference of an element of o, JAX {jax.__version__}:\n")
    print("| case | kernel | jax.nn | flash, interpreted | rows that see nothing |\n| --- | --- | ---: | ---: | ---: |")
    with jax.default_matmul_precision("highest"):
        with open(os.path.join(FOLDER, "entries.json")) as f:
            entries = json.load(f)
        theirs = {}
        for entry in entries:
            p, o = entry["Problem"], array(entry, "o")
            rows = seen(entry, p)
            cells = []
            for name, f in (("own", own), ("pallas", pallas)):
                key = entry["Case"], name
                if key not in theirs:
                    theirs[key] = f(entry, p)
                want = theirs[key]
                if want is None:
                    cells.append("–")
                    continue
                difference = float(np.abs(want - o).max(-1)[rows].max())
                worst = max(worst, difference)
                cells.append(f"{difference:.1e}")
            print(f"| {entry['Case']} | {entry['Kernel']} | {cells[0]} | {cells[1]} | {int((~rows).sum())} |")
    if not worst <= LIMIT:
        sys.exit(f"{worst:.1e} is above {LIMIT:.0e}")


main()
