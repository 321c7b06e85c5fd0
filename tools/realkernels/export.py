"""Exports kernels that other people wrote, unchanged, for TPUs that are not here.

    python export.py FOLDER TOPOLOGY... [PUBLISHED.csv]

writes FOLDER/NAME.TOPOLOGY.mlir, the bytecode of StableHLO, for each of KERNELS and each of
CHIPS that is named, and prints a line of JSON for each: {"name", "origin", "topology", "shapes",
"assume", "file" or "refused"}. Of a file of published times of tokamax' attention
(model/testdata/attention_published.csv) it exports each row, on the row's chip, in place of
KERNELS, and the line has the row as "published". tools/pallasref has the requirements.
"""

import csv
import importlib.metadata
import importlib.util
import json
import logging
import math
import os
import sys
import types

import jax
import jax.numpy as jnp
import tokamax
from jax.extend import backend
from jax.experimental.pallas.ops.tpu import all_gather, flash_attention, matmul, paged_attention
from jax.experimental.pallas.ops.tpu import ragged_paged_attention, splash_attention
from jax.experimental.pallas.ops.tpu.megablox import gmm
from tokamax._src.ops.attention import pallas_mosaic_tpu as attention
from tokamax._src.ops.experimental.tpu.splash_attention import splash_attention_kernel as splash

# Kernels of tpu-inference import its logger alone, which is vLLM's; its own start loads vLLM whole.
package = types.ModuleType("tpu_inference")
package.__path__ = importlib.util.find_spec("tpu_inference").submodule_search_locations
logger = types.ModuleType("tpu_inference.logger")
logging.Logger.warning_once = logging.Logger.warning
logger.init_logger = logging.getLogger
sys.modules |= {"tpu_inference": package, "tpu_inference.logger": logger}

from tpu_inference.kernels.quantized_matmul import blockwise_kernel  # noqa: E402
from tpu_inference.kernels.quantized_matmul import kernel as quantized  # noqa: E402

# What JAX calls a chip, and how many cores a device of it has: kernels ask for their blocks.
CHIPS = {"v4": ("TPU v4", 2), "v5e": ("TPU v5 lite", 1), "v5p": ("TPU v5", 2), "v6e": ("TPU v6 lite", 1), "v7x": ("TPU7x", 1)}
JAX, TOKAMAX = f"jax {jax.__version__}", f"tokamax {tokamax.__version__}"
INFERENCE = f"tpu-inference {importlib.metadata.version('tpu-inference')}"
KERNELS = {}


def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype)


def kernel(origin, *shapes):
    """Adds a function, its origin and the shapes that it is exported for."""
    def add(f):
        KERNELS[f.__name__] = (f, origin, shapes)
        return f
    return add


@kernel(JAX, array(4096, 4096), array(4096, 4096))
def pallas_matmul(a, b):
    return matmul.matmul(a, b, block_shape=(512, 1024), block_k=1024)


HEADS = array(1, 8, 4096, 128)


@kernel(JAX, HEADS, HEADS, HEADS)
def pallas_flash_attention(q, k, v):
    return flash_attention.flash_attention(q, k, v, causal=True, sm_scale=1 / math.sqrt(128))


@kernel(JAX, HEADS, HEADS, HEADS)
def pallas_splash_attention(q, k, v):
    """Causal, blocks of 1024 rows and keys."""
    masks = splash_attention.splash_attention_mask
    mask = masks.MultiHeadMask([masks.CausalMask((4096, 4096))] * 8)
    sizes = splash_attention.BlockSizes(block_q=1024, block_kv=1024, block_kv_compute=512)
    call = splash_attention.make_splash_mha(mask, block_sizes=sizes, head_shards=1, q_seq_shards=1)
    return jax.vmap(call)(q, k, v)


@kernel(JAX, array(4096, 4096), array(8, 4096, 4096), array(8, dtype=jnp.int32))
def megablox_gmm(a, b, groups):
    return gmm(a, b, groups, preferred_element_type=jnp.bfloat16, tiling=(512, 1024, 1024))


@kernel(JAX, array(32, 8, 128), array(1, 2048, 16, 128), array(1, 2048, 16, 128), array(32, dtype=jnp.int32),
        array(32, 64, dtype=jnp.int32))
def pallas_paged_attention(q, k, v, lengths, pages):
    return paged_attention.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=8)


@kernel(JAX, array(512, 32, 128), array(2048, 16, 16, 128), array(32, dtype=jnp.int32), array(32, 64, dtype=jnp.int32),
        array(33, dtype=jnp.int32), array(1, dtype=jnp.int32))
def pallas_ragged_paged_attention(q, pages, lengths, indices, starts, sequences):
    return ragged_paged_attention.ragged_paged_attention(
        q, pages, lengths, indices, starts, sequences, num_kv_pages_per_block=16, num_queries_per_block=64)


def rms(x, g):
    h = x.astype(jnp.float32)
    return (h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5) * g).astype(x.dtype)


def attend(x, wq, wk, wv, wo):
    """Causal attention of grouped heads of 128 columns, written out."""
    s, d = x.shape[0], 128
    heads, kv = wq.shape[1] // d, wk.shape[1] // d
    q, k, v = (x @ wq).reshape(s, kv, heads // kv, d), (x @ wk).reshape(s, kv, d), (x @ wv).reshape(s, kv, d)
    scores = jnp.einsum("skgd,tkd->kgst", q, k, preferred_element_type=jnp.float32) / math.sqrt(d)
    p = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e30), -1).astype(x.dtype)
    return jnp.einsum("kgst,tkd->skgd", p, v).reshape(s, heads * d) @ wo


def layer(width, hidden, experts=0, rows=2048):
    """Shapes of a layer of Llama 3 8B's kind; with experts of Mixtral's."""
    attention = (array(width, width), array(width, width // 4), array(width, width // 4), array(width, width))
    norms = (array(width, dtype=jnp.float32),) * 2
    if experts:
        mlp = (array(width, experts), array(experts, width, hidden), array(experts, width, hidden), array(experts, hidden, width))
    else:
        mlp = (array(width, hidden), array(width, hidden), array(hidden, width))
    return (array(rows, width), *attention, *norms, *mlp)


@kernel("plain JAX", array(2048, 4096), array(4096, dtype=jnp.float32), array(4096, 14336), array(4096, 14336), array(14336, 4096))
def gated_mlp(x, g, wg, wu, wd):
    h = rms(x, g)
    return x + (jax.nn.silu(h @ wg) * (h @ wu)) @ wd


@kernel("plain JAX", *layer(4096, 14336))
def llama_layer(x, wq, wk, wv, wo, g1, g2, wg, wu, wd):
    x = x + attend(rms(x, g1), wq, wk, wv, wo)
    h = rms(x, g2)
    return x + (jax.nn.silu(h @ wg) * (h @ wu)) @ wd


@kernel("plain JAX", *layer(4096, 14336, experts=8))
def mixtral_layer(x, wq, wk, wv, wo, g1, g2, router, wg, wu, wd):
    """Two of eight experts for each row, rows sorted by expert, grouped products by ragged_dot."""
    x = x + attend(rms(x, g1), wq, wk, wv, wo)
    h = rms(x, g2)
    weights, chosen = jax.lax.top_k(jax.nn.softmax((h @ router).astype(jnp.float32)), 2)
    order = jnp.argsort(chosen.reshape(-1))
    sizes = jnp.bincount(chosen.reshape(-1), length=8)
    rows = h[order // 2]
    inner = jax.nn.silu(jax.lax.ragged_dot(rows, wg, sizes)) * jax.lax.ragged_dot(rows, wu, sizes)
    out = jax.lax.ragged_dot(inner, wd, sizes) * weights.reshape(-1)[order][:, None].astype(x.dtype)
    return x + jnp.zeros_like(h).at[order // 2].add(out)


TPU = {"implementation": "mosaic"}


@kernel(TOKAMAX, *[array(1, 4096, 8, 128)] * 3)
def tokamax_attention(q, k, v):
    return tokamax.dot_product_attention(q, k, v, is_causal=True, **TPU)


@kernel(TOKAMAX, array(4096, 4096), array(8, 4096, 4096), array(8, dtype=jnp.int32))
def tokamax_ragged_dot(a, b, groups):
    return tokamax.ragged_dot(a, b, groups, **TPU)


@kernel(TOKAMAX, array(4096, 4096), array(4096, 2, 8192))
def tokamax_gated_linear_unit(x, w):
    return tokamax.gated_linear_unit(x, w, activation=jax.nn.silu, implementation="xla")


@kernel(TOKAMAX, array(4096, 4096), array(4096, dtype=jnp.float32), array(4096, dtype=jnp.float32))
def tokamax_layer_norm(x, scale, offset):
    return tokamax.layer_norm(x, scale, offset, implementation="xla")


WIDE = array(4096, 4096, dtype=jnp.int8)


@kernel(INFERENCE, array(2048, 4096), WIDE, array(4096, dtype=jnp.float32))
def quantized_matmul(x, w, scale):
    """int8 weights with a scale a channel; activations quantized in the kernel."""
    return quantized.quantized_matmul_kernel(x, w, scale, x_q_dtype=jnp.int8)


NARROW = array(4096, 4096, dtype=jnp.float8_e4m3fn)


@kernel(INFERENCE, array(2048, 4096), NARROW, array(8, 1, 4096, dtype=jnp.float32))
def quantized_matmul_blockwise(x, w, scale):
    """float8 weights with a scale for each 512 elements of k, and blocks of 512."""
    blocks = blockwise_kernel.TunedValue(512, 512, 512)
    return blockwise_kernel.quantized_matmul_kernel(x, w, scale, block_size=512, x_q_dtype=jnp.float8_e4m3fn, tuned_value=blocks)


@kernel(JAX, array(4096, 4096))
def pallas_all_gather(x):
    """Among four chips: each has a quarter of the rows."""
    return all_gather.all_gather(x, mesh=jax.sharding.get_abstract_mesh(), axis_name="chips")


pallas_all_gather.chips = 4


def assumed(name, chip, cores):
    """Trips of loops that data decides, of each core: a grid's steps and two more to fill and
    drain its pipeline. Groups are of 512 rows, sequences of 1024 keys in 64 pages; queries are
    16 of each sequence."""
    trips = {
        "megablox_gmm": {"gmm.1": 4 * 8 * 4 // cores + 2},
        "pallas_paged_attention": {"paged_attention.1": "8/1"},
        "pallas_ragged_paged_attention": {"ragged_paged_attention_kernel.1": "4/4"},
        "mixtral_layer": {
            "ragged-dot-metadata": "4/7",
            "ragged-dot-none": 32 * 32 * 2 // cores + 2,
            "ragged-dot-none.1": 56 * 32 // cores + 2,
            "ragged-dot-none.2": 56 * 32 // cores + 2,
        },
        "tokamax_attention": {"splash_mha_fwd_no_residuals.1": 8 * 32 * 33 // 2 // cores + 2},
        # Tiles of 128³; on v7x tokamax chooses others, which no argument tells.
        "tokamax_ragged_dot": {"gmm_megablox.1": 32 * 32 * 32 // cores + 2} if chip != "TPU7x" else {},
    }
    return {loop: str(n) for loop, n in trips.get(name, {}).items()}


def export(f, shapes, topology):
    """The program of f as it is on a chip."""
    kind, cores = CHIPS[topology]
    chip = jax.sharding.AbstractDevice(device_kind=kind, num_cores=cores, platform="tpu")
    mesh = jax.sharding.AbstractMesh((getattr(f, "chips", 1),), ("chips",), abstract_device=chip, axis_types=(jax.sharding.AxisType.Auto,))
    checks = [jax.export.DisabledSafetyCheck.custom_call("tpu_custom_call")]
    backend.get_default_device = lambda: chip
    jax.devices = lambda *_: [chip]
    with jax.sharding.use_abstract_mesh(mesh):
        return jax.export.export(jax.jit(f), platforms=["tpu"], disabled_checks=checks)(*shapes)


def published(row):
    """tokamax' attention as a published row has it, and its shapes."""
    layouts = [splash.QKVLayout(int(i)) for i in row["layouts"].split()]
    config = attention.Config(
        block_q=int(row["rows"]),
        block_kv=int(row["keys"]),
        block_kv_compute=int(row["piece"]),
        q_layout=layouts[0],
        k_layout=layouts[1],
        v_layout=layouts[2],
        use_experimental_scheduler=row["scheduler"] == "1",
    )
    shape = array(int(row["batch"]), int(row["length"]), int(row["heads"]), int(row["columns"]))
    return attention.PallasMosaicTpuFlashAttention(config=config), (shape,) * 3


def cases(topologies):
    for topology in topologies:
        if topology.endswith(".csv"):
            with open(topology) as file:
                for n, row in enumerate(csv.DictReader(file)):
                    f, shapes = published(row)
                    yield f"attention_{n}", row["chip"], TOKAMAX, f, shapes, {"published": row}
        else:
            for name, (f, origin, shapes) in KERNELS.items():
                yield name, topology, origin, f, shapes, {"assume": assumed(name, *CHIPS[topology])}


def main(folder, *topologies):
    os.makedirs(folder, exist_ok=True)
    for name, topology, origin, f, shapes, more in cases(topologies):
        row = {"name": name, "origin": origin, "topology": topology, "shapes": [f"{s.dtype}{list(s.shape)}" for s in shapes]}
        row |= more
        try:
            program = export(f, shapes, topology).mlir_module_serialized
            row["file"] = os.path.join(folder, f"{name}.{topology}.mlir")
            with open(row["file"], "wb") as out:
                out.write(program)
        except Exception as why:  # whatever a kernel raises is its row
            row["refused"] = f"{type(why).__name__}: {why}".splitlines()[0][:300]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
