"""Writes the programs beside it: pip install jax flatbuffers, then python export.py."""
import re

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.tpu import matmul
from jax.experimental.pallas.ops.tpu.megablox import gmm


def block(x, wq, wk, wv, wo, wg, wu, wd, g1, g2):
    """Norm, causal attention of grouped heads of 128, gated MLP, as in Llama."""
    def norm(x, g):
        h = x.astype(jnp.float32)
        return (h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5) * g).astype(x.dtype)
    s, D = x.shape[0], 128
    H, KV = wq.shape[1] // D, wk.shape[1] // D
    h = norm(x, g1)
    q, k, v = (h @ wq).reshape(s, KV, H // KV, D), (h @ wk).reshape(s, KV, D), (h @ wv).reshape(s, KV, D)
    l = jnp.einsum('skgd,tkd->kgst', q, k, preferred_element_type=jnp.float32) / jnp.sqrt(D)
    p = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), l, -1e30), -1).astype(x.dtype)
    x = x + jnp.einsum('kgst,tkd->skgd', p, v).reshape(s, H * D) @ wo
    h = norm(x, g2)
    return x + (jax.nn.silu(h @ wg) * (h @ wu)) @ wd


def scan(x, w):
    return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, w)[0]


def loop(x):
    """Runs until data says so."""
    return jax.lax.while_loop(lambda c: c[1] < 100., lambda c: (c[0] @ c[0], c[1] + jnp.sum(c[0]).astype(jnp.float32)), (x, jnp.float32(0)))


def write(name, f, *shapes):
    exported = jax.export.export(jax.jit(f), platforms=['tpu'])(*shapes)
    text = re.sub(r' loc\((#loc\d*|unknown|"[^"]*")\)', '', exported.mlir_module())
    with open(name + '.mlir', 'w') as f:
        f.writelines(line for line in text.splitlines(True) if not line.startswith('#loc'))
    return exported


def bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


g = jax.ShapeDtypeStruct((512,), jnp.float32)
exported = write('block', block, bf16(256, 512), bf16(512, 512), bf16(512, 256), bf16(512, 256), bf16(512, 512), bf16(512, 1024), bf16(512, 1024), bf16(1024, 512), g, g)
with open('block.jax', 'wb') as f:
    f.write(exported.serialize())
write('pallas_matmul', lambda a, b: matmul.matmul(a, b, block_shape=(256, 256), block_k=256), bf16(1024, 1024), bf16(1024, 1024))
write('scan', scan, bf16(256, 256), bf16(8, 256, 256))
write('while', loop, bf16(256, 256))
f = jax.jit(lambda a, b, sizes: gmm(a, b, sizes, preferred_element_type=jnp.bfloat16, tiling=(256, 512, 512)))
exported = jax.export.export(f, platforms=['tpu'])(bf16(1024, 1024), bf16(4, 1024, 1024), jax.ShapeDtypeStruct((4,), jnp.int32))
with open('megablox.mlir', 'wb') as f:
    f.write(exported.mlir_module_serialized)
