"""torch_peer.py THREADS: times PyTorch for matladder.

Requests come on descriptor 3, answers go to 4, as messages (internal/child): a byte 0, the
number of parts in four bytes, and the parts, each behind its length in eight. The first part
is text, the others are arrays in the machine's byte order.

  hello                     ready FAMILY,FAMILY,... VERSION
  problem JSON              ok; {"Family", "In" and "Out": [{"Name", "Dtype", "Shape"}], "Problem"}
  load, then the inputs     ok
  run LAUNCHES              ok NANOSECONDS
  poison                    ok; the output is full of ones
  output                    ok, then the output

Any answer may be "failed WHY", the one to problem also "unsupported WHY". One process computes
one problem after another, and ends when nobody asks any more.
"""

import ctypes
import json
import math
import os
import struct
import sys
import time

THREADS = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])  # before libraries count cores

import torch  # noqa: E402

torch.set_num_threads(THREADS)
torch.set_grad_enabled(False)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int32": torch.int32}


class Unsupported(Exception):
    pass


def attention(p, arrays):
    """scaled_dot_product_attention. What is hidden in another way than by is_causal is a mask
    that is made here, ahead of what is timed; PyTorch has no other way for a window."""
    q, k, v = (torch.nan_to_num(arrays[name]) for name in "qkv")  # it reads what no row sees
    rows, keys = p["Rows"], p["Keys"]
    low, high = -math.inf, math.inf
    if p["Window"]:
        low = -p["Left"] if p["Left"] >= 0 else low
        high = p["Right"] if p["Right"] >= 0 else high
    if p["Causal"]:
        high = min(high, 0)
    shift = keys - rows if p["AtEnd"] else 0
    causal = p["Causal"] and not p["Window"] and shift == 0 and not (p["Bias"] or p["Segments"])
    mask = None
    if not causal and (low, high) != (-math.inf, math.inf):
        ahead = torch.arange(keys)[None, :] - torch.arange(rows)[:, None]
        mask = (ahead >= low + shift) & (ahead <= high + shift)
    if p["Segments"]:
        same = (arrays["row_segment"] == arrays["key_segment"])[:, None]
        mask = same if mask is None else mask & same
    if p["Bias"]:
        bias = arrays["bias"]
        mask = bias if mask is None else torch.where(mask, bias, -math.inf)
    scale = p["Scale"] or 1 / math.sqrt(p["Dim"])
    options = {"attn_mask": mask, "is_causal": causal, "scale": scale}
    if p["Heads"] != p["KVHeads"]:
        options["enable_gqa"] = True
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def softmax(p, arrays):
    x, dtype = arrays["x"], arrays["o"].dtype
    return lambda: torch.softmax(x, dim=-1, dtype=None if dtype == x.dtype else dtype)


def norm(p, arrays):
    """layer_norm and rms_norm. They have neither weights that are 1 + w nor a residual, and o
    is as x."""
    x, w, eps = arrays["x"], arrays["w"][0], p["Epsilon"] or 1e-5
    if p["RMS"]:
        return lambda: torch.nn.functional.rms_norm(x, w.shape, w, eps)
    b = arrays["b"][0]
    return lambda: torch.nn.functional.layer_norm(x, w.shape, w, b, eps)


def mlp(p, arrays):
    """Two products, an activation and their product, as a model spells it."""
    x, gate, up = arrays["x"], arrays["gate"], arrays["up"]
    functional = torch.nn.functional
    activation = {
        "silu": functional.silu,
        "gelu": functional.gelu,
        "gelu_tanh": lambda sums: functional.gelu(sums, approximate="tanh"),
    }[p["Activation"]]
    return lambda: activation(x @ gate) * (x @ up)


# What a family's problem and its arrays become: a function without arguments that computes the
# output and returns it.
FAMILIES = {"attention": attention, "mlp": mlp, "norm": norm, "softmax": softmax}


class Peer:
    def __init__(self):
        self.problem, self.inputs, self.compute, self.out = None, [], None, None

    def hello(self, _, __):
        capability = torch.backends.cpu.get_cpu_capability()
        return "ready", f"{','.join(FAMILIES)} {torch.__version__} {capability}", None

    def make(self, words, _):
        asked = json.loads(words)
        self.arrays, self.compute, self.out = {}, None, None  # those of the problem before are freed
        for a in asked["In"] + asked["Out"]:
            if a["Dtype"] not in DTYPES:
                raise Unsupported(f"no array of {a['Dtype']}")
            self.arrays[a["Name"]] = torch.zeros(a["Shape"], dtype=DTYPES[a["Dtype"]])
        self.inputs = [a["Name"] for a in asked["In"]]
        self.out = self.arrays[asked["Out"][0]["Name"]]
        self.family, self.problem = FAMILIES[asked["Family"]], asked["Problem"]
        return "ok", "", None

    def load(self, _, arrays):
        for name, data in zip(self.inputs, arrays, strict=True):
            t = self.arrays[name]
            if t.nbytes != len(data):
                raise ValueError(f"{name} has {t.nbytes} bytes, not {len(data)}")
            ctypes.memmove(t.data_ptr(), data, len(data))
        self.compute = self.family(self.problem, self.arrays)
        return self.poison(None, None)

    def run(self, words, _):
        compute, out = self.compute, None
        begin = time.perf_counter_ns()
        for _ in range(int(words)):
            out = compute()
        elapsed = time.perf_counter_ns() - begin
        if out.shape != self.out.shape or out.dtype != self.out.dtype:
            raise ValueError(f"the output is {out.dtype} {tuple(out.shape)}")
        self.out = out
        return "ok", str(elapsed), None

    def poison(self, _, __):
        self.out = self.out.contiguous()
        ctypes.memset(self.out.data_ptr(), 0xFF, self.out.nbytes)
        return "ok", "", None

    def output(self, _, __):
        out = self.out.contiguous()
        return "ok", "", ctypes.string_at(out.data_ptr(), out.nbytes)


def read(n):
    data = bytearray()
    while len(data) < n:
        more = os.read(3, min(n - len(data), 1 << 24))
        if not more:
            os._exit(0)  # the parent is gone; no destructors, which may wait for threads
        data += more
    return bytes(data)


def write(data):
    view = memoryview(data)
    while len(view):
        view = view[os.write(4, view):]


def answer(word, text, array):
    line = f"{word} {text}".strip().replace("\n", " ").encode()
    parts = [line] if array is None else [line, array]
    write(struct.pack("=BI", 0, len(parts)))
    for part in parts:
        write(struct.pack("=Q", len(part)))
        write(part)


def serve():
    peer = Peer()
    requests = {"hello": peer.hello, "problem": peer.make, "load": peer.load, "run": peer.run,
                "poison": peer.poison, "output": peer.output}
    while True:
        kind, count = struct.unpack("=BI", read(5))
        if kind != 0:
            os._exit(2)
        parts = [read(struct.unpack("=Q", read(8))[0]) for _ in range(count)]
        word, _, words = parts[0].decode().partition(" ")
        try:
            answer(*requests[word](words, parts[1:]))
        except Unsupported as why:
            answer("unsupported", str(why), None)
        except Exception as why:  # noqa: BLE001: whatever a library raises is a row
            answer("failed", f"{type(why).__name__}: {why}"[:900], None)


serve()
