"""What PyTorch has of the problem families, as a user's file would have it: each function
prepares, and what it returns computes the output."""

import math

import torch
from torch.nn import functional

matladder = {"version": f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}"}


def attention(q, k, *rest, problem):
    """scaled_dot_product_attention. What is hidden in another way than by is_causal is a mask
    that is made here, ahead of what is timed; PyTorch has no other way for a window."""
    p, rest = problem, list(rest)
    bias = rest.pop(0) if p["Bias"] else None
    q, k, v = (torch.nan_to_num(x) for x in (q, k, rest[-1]))  # it reads what no row sees
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
        same = (rest[0] == rest[1])[:, None]
        mask = same if mask is None else mask & same
    if bias is not None:
        mask = bias if mask is None else torch.where(mask, bias, -math.inf)
    options = {"attn_mask": mask, "is_causal": causal, "scale": p["Scale"] or 1 / math.sqrt(p["Dim"])}
    if p["Heads"] != p["KVHeads"]:
        options["enable_gqa"] = True
    return lambda: functional.scaled_dot_product_attention(q, k, v, **options)


def mlp(x, gate, up, *, problem):
    """Two products, an activation and their product, as a model spells it."""
    activation = {
        "silu": functional.silu,
        "gelu": functional.gelu,
        "gelu_tanh": lambda sums: functional.gelu(sums, approximate="tanh"),
    }[problem["Activation"]]
    return lambda: activation(x @ gate) * (x @ up)


def norm(x, w, b=None, *, problem):
    """layer_norm and rms_norm. They have neither weights that are 1 + w nor a residual, and o
    is as x."""
    w, eps = w[0], problem["Epsilon"] or 1e-5
    if problem["RMS"]:
        return lambda: functional.rms_norm(x, w.shape, w, eps)
    b = b[0]
    return lambda: functional.layer_norm(x, w.shape, w, b, eps)


def softmax(x, *, problem):
    dtype = None if problem["Out"] == problem["X"] else getattr(torch, problem["Out"])
    return lambda: torch.softmax(x, dim=-1, dtype=dtype)
