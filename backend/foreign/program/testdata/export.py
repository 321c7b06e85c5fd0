"""Writes the programs beside it: pip install jax flatbuffers, then python export.py."""
import re

import jax
import jax.numpy as jnp


def shape(*s):
    return jax.ShapeDtypeStruct(s, jnp.float32)


def write(name, f):
    exported = jax.export.export(jax.jit(f), platforms=['cpu'])(shape(40, 56), shape(56, 24))
    with open(name + '.mlir', 'w') as out:
        out.write(re.sub(r' loc\([^()]*\)|#loc.*\n', '', str(exported.mlir_module())))
    return exported


exported = write('matmul', jnp.matmul)
with open('matmul.mlirbc', 'wb') as out:
    out.write(exported.mlir_module_serialized)
with open('matmul.jax', 'wb') as out:
    out.write(exported.serialize())
write('doubled', lambda a, b: 2 * (a @ b))
write('endless', lambda a, b: jax.lax.while_loop(lambda o: jnp.isfinite(o[0, 0]), jnp.tanh, a @ b))
