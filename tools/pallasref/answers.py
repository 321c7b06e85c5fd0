"""What the scripts share: points come in, and are compiled for a TPU with none at hand.

A point is a JSON object on a line, and names its topology: {"topology": "v5e:2x2", …}.
Its answer is a line: {"seconds": 1.9}, or {"seconds": …, "error": …} with what JAX or
the compiler said. libtpu is the one that TPU_LIBRARY_PATH names. Where
LIBTPU_INIT_ARGS has --xla_jf_dump_to=DIR it leaves its schedule in DIR. Nothing is run:
it takes no TPU, and no memory but the compiler's.
"""

import functools
import json
import sys
import time

import jax
import jax.numpy as jnp
from jax._src.pallas.mosaic import tpu_info
from jax.experimental import topologies


@functools.cache
def device(topology):
    return topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]


def compile(topology, call, arrays):
    """Compiles a function of arrays, each a shape and a dtype."""
    at = device(topology)
    # Some kernels ask what they are compiled for, of the device that JAX would run on.
    tpu_info.get_device_kind = lambda: at.device_kind
    tpu_info.get_num_device_cores = lambda: at.num_cores
    sharding = jax.sharding.SingleDeviceSharding(at)
    args = [jax.ShapeDtypeStruct(s, jnp.dtype(d), sharding=sharding) for s, d in arrays]
    jax.jit(call).trace(*args).lower(lowering_platforms=("tpu",)).compile()


def answer(build):
    """Answers every point on the standard input: build makes a function and its arrays."""
    for line in sys.stdin:
        start = time.monotonic()
        reply = {}
        try:
            point = json.loads(line)
            compile(point["topology"], *build(point))
        except Exception as e:  # of JAX's many kinds the text tells all
            reply["error"] = f"{e}" or type(e).__name__
        reply["seconds"] = round(time.monotonic() - start, 3)
        print(json.dumps(reply), flush=True)
