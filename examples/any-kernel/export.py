"""Writes a function of kernel.py as StableHLO for a TPU: python export.py matmul 4096 > matmul.mlir"""

import sys

import jax
import jax.numpy as jnp
import kernel

name, size = sys.argv[1], int(sys.argv[2])
matrix = jax.ShapeDtypeStruct((size, size), jnp.bfloat16)
exported = jax.export.export(jax.jit(getattr(kernel, name)), platforms=["tpu"])(matrix, matrix)
sys.stdout.write(str(exported.mlir_module()))
