"""Compiles kernels of tokamax for a TPU with none at hand.

    python tokamax_kernels.py < points.jsonl

answers points (answers.py):

    {"library": "tokamax_splash", "topology": "v6e:2x2", "dtype": "bfloat16",
     "sizes": [4096, 128], "causal": false, "blocks": [1024, 1024, 512]}

tokamax_splash is its splash attention, of two heads: sizes are the length and the
columns of a head; blocks those of rows, of keys, and of the keys in a piece.
"layouts" says how q, k and v lie, 1 with the columns of a head last and 2 with the
rows last (all 1 unless given), "scheduler" whether it asks for libtpu's other one.
tokamax_gmm is its grouped product: sizes are rows, k, n and groups; blocks those of
rows, k and n; "transposed" says that each group's matrix is n × k.
"""

import functools

import answers
import jax
import jax.numpy as jnp
from tokamax._src.ops.experimental.tpu.splash_attention import (
    splash_attention_kernel as splash,
    splash_attention_mask as masks,
)
from tokamax._src.ops.ragged_dot import pallas_mosaic_tpu_kernel as ragged_dot

HEADS = 2


def build_splash(point):
    rows, keys, piece = point["blocks"]
    length, dim = point["sizes"]
    layouts = [splash.QKVLayout(i) for i in point.get("layouts") or [1, 1, 1]]
    config = splash.SplashConfig(
        block_q=rows,
        block_kv=keys,
        block_kv_compute=piece,
        q_layout=layouts[0],
        k_layout=layouts[1],
        v_layout=layouts[2],
        use_experimental_scheduler=point.get("scheduler", False),
    )
    shape = (length, length)
    mask = masks.CausalMask(shape, shard_count=1) if point["causal"] else masks.FullMask(shape)
    # As tokamax' attention calls it.
    call = splash.make_splash_mha(
        mask=mask,
        config=config,
        q_seq_shards=1,
        mask_value=float(jnp.finfo(jnp.float32).min),
        downcast_smem_data=False,
    )
    return lambda q, k, v: call(q, k, v), [((HEADS, length, dim), point["dtype"])] * 3


def build_gmm(point):
    m, k, n, groups = point["sizes"]
    dtype, transposed = point["dtype"], point.get("transposed", False)
    call = functools.partial(
        ragged_dot.gmm,
        precision=(jax.lax.Precision.DEFAULT,) * 2,
        out_dtype=jnp.dtype(dtype),
        tiling=tuple(point["blocks"]),
        transpose_rhs=transposed,
    )
    matrix = (n, k) if transposed else (k, n)
    return call, [((m, k), dtype), ((groups, *matrix), dtype), ((groups,), "int32")]


BUILD = {"tokamax_splash": build_splash, "tokamax_gmm": build_gmm}


if __name__ == "__main__":
    answers.answer(lambda point: BUILD[point["library"]](point))
