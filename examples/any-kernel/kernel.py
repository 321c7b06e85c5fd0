"""Functions for bench --with: o = f(*inputs), as docs/guests.md says. They need jax alone."""

import functools
import math

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def plain(a, b):
    """What XLA makes of a product."""
    return jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(a.dtype)


def step(a, b, o, acc):
    """One step of the grid: a block of A by a block of B."""
    k = pl.program_id(2)

    @pl.when(k == 0)
    def _():
        acc[...] = jnp.zeros_like(acc)

    acc[...] += jnp.dot(a[...], b[...], preferred_element_type=jnp.float32)

    @pl.when(k == pl.num_programs(2) - 1)
    def _():
        o[...] = acc[...].astype(o.dtype)


def matmul(a, b, bm=512, bk=512, bn=1024):
    """A kernel in Pallas; blocks end where the arrays do."""
    (m, k), n = a.shape, b.shape[1]
    bm, bk, bn = min(bm, m), min(bk, k), min(bn, n)
    return pl.pallas_call(
        step,
        grid=(m // bm, n // bn, k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), pl.BlockSpec((bk, bn), lambda i, j, k: (k, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )(a, b)


# The same with larger blocks, as inspect suggests for a v6e.
larger = functools.partial(matmul, bm=1024, bk=1024, bn=2048)


def attention(q, k, *more, problem):
    """JAX's own attention, of arrays of batch, heads, rows and columns."""
    p, (*more, v) = problem, more  # between k and v what hides keys or adds to scores
    if any(p[other] for other in ("SoftCap", "Sinks", "Lengths", "PageSize", "LogSums", "Rope")):
        raise NotImplementedError("a soft cap, sinks, lengths, pages, log-sums and rope")
    ahead = jnp.arange(p["Keys"])[None, :] - jnp.arange(p["Rows"])[:, None]
    if p["AtEnd"]:
        ahead -= p["Keys"] - p["Rows"]
    left, right = (p["Left"], p["Right"]) if p["Window"] else (-1, -1)
    seen = (ahead <= 0 if p["Causal"] else True) & (ahead >= -left if left >= 0 else True) & (ahead <= right if right >= 0 else True)
    q, k, v = (jnp.nan_to_num(x).swapaxes(1, 2) for x in (q, k, v))  # it reads what no row sees
    mask = jnp.broadcast_to(seen, (1, 1, *ahead.shape))
    bias = more.pop(0) if p["Bias"] else None
    if p["Segments"]:
        rows, keys = more
        mask &= (rows.reshape(-1, 1, p["Rows"], 1) == keys.reshape(-1, 1, 1, p["Keys"]))
    return jax.nn.dot_product_attention(q, k, v, bias, mask, scale=p["Scale"] or 1 / math.sqrt(p["Dim"])).swapaxes(1, 2)
