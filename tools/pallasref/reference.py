"""Compiles the five kernels, written in Pallas, for a TPU with none at hand.

    python reference.py < points.jsonl

answers points (answers.py):

    {"kernel": 5, "dtype": "bfloat16", "size": 4096,
     "blocks": [512, 1024, 1024], "topology": "v5e:2x2"}

blocks are those of m, k and n.

    python reference.py --check

runs the kernels in Pallas' interpreter instead and compares with NumPy.
"""

import functools
import sys

import answers
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

# Of each dtype of a and b, that of the products and that of the result.
ACCUMULATOR = {"float32": jnp.float32, "bfloat16": jnp.float32, "int8": jnp.int32}
RESULT = {"float32": jnp.float32, "bfloat16": jnp.bfloat16, "int8": jnp.int32}

NAMES = ["v1_naive", "v2_parallel", "v3_block", "v4_optblock", "v5_quant"]


def dot(a, b, wide):
    return jnp.dot(a[...], b[...], preferred_element_type=wide)


def product(a, b, o, *, wide):
    """v1 and v2: a program sees all of k."""
    o[...] = dot(a, b, wide).astype(o.dtype)


def into_output(a, b, o, *, wide):
    """v3 and v4: the output block holds the sum, rounded at every step of k."""

    @pl.when(pl.program_id(2) == 0)
    def _():
        o[...] = jnp.zeros_like(o)

    o[...] = (o[...].astype(wide) + dot(a, b, wide)).astype(o.dtype)


def into_scratch(a, b, o, acc, *, wide):
    """v5: a wide accumulator holds the sum, rounded once."""

    @pl.when(pl.program_id(2) == 0)
    def _():
        acc[...] = jnp.zeros_like(acc)

    acc[...] += dot(a, b, wide)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        o[...] = acc[...].astype(o.dtype)


def matmul(number, dtype, size, blocks, interpret=False):
    """The kernel of a number, as a function of two arrays of size × size."""
    bm, bk, bn = blocks
    wide = ACCUMULATOR[dtype]
    call = functools.partial(
        pl.pallas_call,
        out_shape=jax.ShapeDtypeStruct((size, size), RESULT[dtype]),
        name=NAMES[number - 1],
        interpret=interpret,
    )
    if number == 1:
        return call(functools.partial(product, wide=wide))
    if number == 2:
        return call(
            functools.partial(product, wide=wide),
            grid=(pl.cdiv(size, bm), pl.cdiv(size, bn)),
            in_specs=[
                pl.BlockSpec((bm, bk), lambda i, j: (i, 0)),
                pl.BlockSpec((bk, bn), lambda i, j: (0, j)),
            ],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
            compiler_params=pltpu.CompilerParams(
                dimension_semantics=("parallel", "parallel")
            ),
        )
    scratch = number == 5
    return call(
        functools.partial(into_scratch if scratch else into_output, wide=wide),
        grid=(pl.cdiv(size, bm), pl.cdiv(size, bn), pl.cdiv(size, bk)),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)),
            pl.BlockSpec((bk, bn), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
        scratch_shapes=[pltpu.VMEM((bm, bn), wide)] if scratch else [],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary")
        ),
    )


def build(point):
    size, dtype = point["size"], point["dtype"]
    f = matmul(point["kernel"], dtype, size, point["blocks"])
    return f, [((size, size), dtype)] * 2


def check():
    """Runs every kernel in Pallas' interpreter, against NumPy: small integers,
    whose products all of the dtypes hold exactly."""
    size, blocks = 256, {1: (256, 256, 256), 2: (128, 256, 128)}
    random = np.random.default_rng(1)
    for number, name in enumerate(NAMES, 1):
        for dtype in RESULT:
            a, b = random.integers(-1, 2, (2, size, size))
            f = matmul(number, dtype, size, blocks.get(number, (128, 64, 128)), True)
            got = f(jnp.asarray(a, dtype), jnp.asarray(b, dtype))
            assert got.dtype == RESULT[dtype], (name, dtype, got.dtype)
            np.testing.assert_array_equal(np.asarray(got, np.int64), a @ b, f"{name} {dtype}")
            print(f"{name} {dtype}: exact")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        answers.answer(build)
