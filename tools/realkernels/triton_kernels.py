"""Kernels of Triton whose times are predicted without a GPU, and measured on one.

    python triton_kernels.py compile FOLDER sm_90     writes NAME.ttir and NAME.json; needs no GPU
    python triton_kernels.py measure                  prints "NAME SECONDS", the median of launches
"""

import json
import os
import sys

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """Row-major float16 or bfloat16, whole blocks, tiles in groups of rows for the L2 cache."""
    pid = tl.program_id(0)
    across = N // BN
    group = pid // (GROUP * across)
    rows = min(M // BM - group * GROUP, GROUP)
    i = group * GROUP + pid % (GROUP * across) % rows
    j = pid % (GROUP * across) // rows
    m = i * BM + tl.arange(0, BM)
    n = j * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left = a + m[:, None] * K + k[None, :]
    right = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K // BK):
        acc = tl.dot(tl.load(left), tl.load(right), acc)
        left += BK
        right += BK * N
    tl.store(o + m[:, None] * N + n[None, :], acc.to(o.dtype.element_ty))


@triton.jit
def softmax(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + n, mask=n < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * N + n, (e / tl.sum(e, 0)).to(o.dtype.element_ty), mask=n < N)


@triton.jit
def layer_norm(x, w, b, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    inside = n < N
    v = tl.load(x + row * N + n, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(inside, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / N + 1e-5)
    y = d * scale * tl.load(w + n, mask=inside, other=0.0) + tl.load(b + n, mask=inside, other=0.0)
    tl.store(o + row * N + n, y.to(o.dtype.element_ty), mask=inside)


@triton.jit
def gated(gate, up, o, BLOCK: tl.constexpr):
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + n).to(tl.float32)
    tl.store(o + n, (g / (1 + tl.exp(-g)) * tl.load(up + n).to(tl.float32)).to(o.dtype.element_ty))


@triton.jit
def attention(q, k, v, o, L, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    """One pass over the keys; heads one after another, rows of D columns."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1) * L * D
    d = tl.arange(0, D)
    rows = tl.load(q + head + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    last = L
    if CAUSAL:
        last = (tl.program_id(0) + 1) * BM
    for start in range(0, last, BN):
        n = start + tl.arange(0, BN)
        keys = tl.load(k + head + n[None, :] * D + d[:, None])
        s = tl.dot(rows, keys) * (scale * 1.4426950408889634)
        if CAUSAL:
            s = tl.where(m[:, None] >= n[None, :], s, -float("inf"))
        now = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - now[:, None])
        shrink = tl.exp2(best - now)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + head + n[:, None] * D + d[None, :]), acc)
        best = now
    tl.store(o + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


def cases():
    """Name, kernel, grid, arrays (shape of each), integers, floats, constants, warps, stages."""
    for size, (bm, bn, bk), warps, stages in [
        (2048, (128, 128, 64), 4, 3), (2048, (128, 256, 64), 8, 3), (4096, (128, 256, 64), 8, 3), (4096, (128, 128, 64), 8, 4),
        (4096, (64, 256, 32), 4, 4), (4096, (64, 64, 32), 4, 3), (8192, (128, 256, 64), 8, 3), (8192, (128, 128, 32), 4, 4)]:
        yield (f"matmul_{size}_{bm}x{bn}x{bk}_{warps}_{stages}", matmul, (size // bm * (size // bn), 1, 1), [(size, size)] * 3,
               {"M": size, "N": size, "K": size}, {}, {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, warps, stages)
    for rows, n, warps in [(8192, 1024, 4), (8192, 4096, 8), (32768, 2048, 4), (4096, 12288, 16)]:
        yield f"softmax_{rows}x{n}", softmax, (rows, 1, 1), [(rows, n)] * 2, {"N": n}, {}, {"BLOCK": triton.next_power_of_2(n)}, warps, 3
        yield (f"layer_norm_{rows}x{n}", layer_norm, (rows, 1, 1), [(rows, n), (n,), (n,), (rows, n)], {"N": n}, {},
               {"BLOCK": triton.next_power_of_2(n)}, warps, 3)
    for n in [1 << 24, 1 << 27]:
        yield f"gated_{n}", gated, (n // 1024, 1, 1), [(n,)] * 3, {}, {}, {"BLOCK": 1024}, 4, 3
    for heads, length, d, causal, (bm, bn), warps, stages in [
        (64, 2048, 64, False, (128, 64), 4, 3), (64, 2048, 128, False, (128, 64), 8, 3), (32, 4096, 128, False, (128, 64), 8, 3),
        (32, 4096, 128, True, (128, 64), 8, 3), (16, 8192, 128, False, (64, 64), 4, 3), (16, 8192, 64, True, (128, 128), 8, 2)]:
        yield (f"attention_{heads}x{length}x{d}{'_causal' if causal else ''}_{bm}x{bn}_{warps}_{stages}", attention, (length // bm, heads, 1),
               [(heads, length, d)] * 4, {"L": length}, {"scale": d**-0.5}, {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal}, warps, stages)


def compile_all(folder, arch):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    os.makedirs(folder, exist_ok=True)
    for name, f, grid, arrays, integers, floats, constants, warps, stages in cases():
        names = f.arg_names
        signature = {n: "*bf16" for n in names[: len(arrays)]} | {n: "i32" for n in integers} | {n: "fp32" for n in floats}
        signature |= {n: "constexpr" for n in constants}
        attrs = {(names.index(n),): [["tt.divisibility", 16]] for n in list(names[: len(arrays)]) + list(integers)}
        source = ASTSource(f, signature, constexprs=constants, attrs=attrs)
        options = {"num_warps": warps, "num_stages": stages}
        k = triton.compile(source, target=GPUTarget("cuda", int(arch.removeprefix("sm_")), 32), options=options)
        with open(os.path.join(folder, name + ".ttir"), "w") as out:
            out.write(k.asm["ttir"])
        with open(os.path.join(folder, name + ".json"), "w") as out:
            json.dump(options | {"grid": grid, "args": integers}, out)


def reference(f, arrays, integers, floats, constants):
    import torch

    if f is matmul:
        return arrays[0].float() @ arrays[1].float()
    if f is softmax:
        return torch.softmax(arrays[0].float(), -1)
    if f is layer_norm:
        x, w, b, _ = (t.float() for t in arrays)
        return torch.nn.functional.layer_norm(x, w.shape, w, b)
    if f is gated:
        return torch.nn.functional.silu(arrays[0].float()) * arrays[1].float()
    q, k, v, _ = arrays
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=constants["CAUSAL"])[0].float()


def measure():
    import torch

    for name, f, grid, arrays, integers, floats, constants, warps, stages in cases():
        t = [torch.randn(s, device="cuda", dtype=torch.bfloat16) for s in arrays]
        launch = lambda: f[grid](*t, *integers.values(), *floats.values(), **constants, num_warps=warps, num_stages=stages)
        try:
            launch()
            want = reference(f, t, integers, floats, constants)
            off = ((t[-1].float() - want).abs().max() / want.abs().max()).item()
            ms = triton.testing.do_bench(launch, warmup=50, rep=200, return_mode="median")
            print(name, f"{ms / 1e3:.6g}", f"{off:.2g}", flush=True)
        except Exception as why:  # its row
            print(name, "failed", f"{type(why).__name__}: {why}".splitlines()[0][:120], flush=True)
        del t
        torch.cuda.empty_cache()


if __name__ == "__main__":
    compile_all(*sys.argv[2:]) if sys.argv[1] == "compile" else measure()
