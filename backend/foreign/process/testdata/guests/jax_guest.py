import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def matmul(a, b):
    assert isinstance(a, jax.core.Tracer)  # it is jitted
    return jnp.matmul(a, b, preferred_element_type=jnp.int32 if a.dtype == jnp.int8 else a.dtype)


def body(a, b, o):
    o[...] = jnp.dot(a[...], b[...])


def pallas(a, b):
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), a.dtype))(a, b)
