"""Compiles kernels that JAX has in its library, for a TPU with none at hand.

    python library.py < points.jsonl

answers points (answers.py):

    {"library": "flash", "topology": "v6e:2x2", "dtype": "bfloat16",
     "sizes": [4096, 128], "causal": false, "blocks": [1024, 1024, 512]}

flash and splash are JAX's attention kernels, of two heads: sizes are the length and
the columns of a head; blocks those of rows, of keys, and of the keys in a piece.
gmm is megablox' grouped product: sizes are rows, k, n and groups; blocks those of
rows, k and n.
"""

import functools
import math

import answers
import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.tpu import flash_attention as flash
from jax.experimental.pallas.ops.tpu.megablox.gmm import gmm
from jax.experimental.pallas.ops.tpu.splash_attention import (
    splash_attention_kernel as splash,
    splash_attention_mask as masks,
)

HEADS = 2


def attention(point, call, *batch):
    length, dim = point["sizes"]
    return call, [((*batch, HEADS, length, dim), point["dtype"])] * 3


def build_flash(point):
    rows, keys, piece = point["blocks"]
    sizes = flash.BlockSizes(block_q=rows, block_k_major=keys, block_k=piece, block_b=1)
    # Everybody scales: the kernel's own default does not.
    scale = 1 / math.sqrt(point["sizes"][1])
    call = functools.partial(
        flash.flash_attention, causal=point["causal"], sm_scale=scale, block_sizes=sizes
    )
    return attention(point, call, 1)


def build_splash(point):
    rows, keys, piece = point["blocks"]
    length = point["sizes"][0]
    mask = (masks.CausalMask if point["causal"] else masks.FullMask)((length, length))
    sizes = splash.BlockSizes(block_q=rows, block_kv=keys, block_kv_compute=piece)
    kernel = splash.make_splash_mha(
        masks.MultiHeadMask([mask] * HEADS), block_sizes=sizes, head_shards=1, q_seq_shards=1
    )
    return attention(point, lambda q, k, v: kernel(q, k, v))


def build_gmm(point):
    m, k, n, groups = point["sizes"]
    dtype = point["dtype"]
    call = functools.partial(
        gmm, preferred_element_type=jnp.dtype(dtype), tiling=tuple(point["blocks"])
    )
    return call, [((m, k), dtype), ((groups, k, n), dtype), ((groups,), "int32")]


BUILD = {"flash": build_flash, "splash": build_splash, "gmm": build_gmm}


if __name__ == "__main__":
    answers.answer(lambda point: BUILD[point["library"]](point))
