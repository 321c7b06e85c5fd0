"""Writes the .ttir files beside it, with Triton's compiler (pip install triton==3.9.0) and no GPU."""
import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, o, M, N, K, row_a, row_b, row_o, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + (i % M)[:, None] * row_a + k[None, :]
    pb = b + k[:, None] * row_b + (j % N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        acc = tl.dot(tl.load(pa, mask=k[None, :] < K - at, other=0.0), tl.load(pb, mask=k[:, None] < K - at, other=0.0), acc)
        pa += BK
        pb += BK * row_b
    tl.store(o + i[:, None] * row_o + j[None, :], acc.to(tl.bfloat16), mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def rows(x, y, n_rows, n, row, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for r in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        v = tl.load(x + r * row + at, mask=at < n, other=float("-inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + r * row + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def stays(a, b, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    do = tl.make_tensor_descriptor(o, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0)):
        i = tile // across * BM
        j = tile % across * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(da.load([i, k]), db.load([k, j]), acc)
        do.store([i, j], acc.to(tl.float16))


@triton.jit
def picked(table, ids, o, lengths, n, BLOCK: tl.constexpr, LOOP: tl.constexpr):
    at = tl.arange(0, BLOCK)
    which = tl.load(ids + tl.program_id(0))
    v = tl.load(table + which * n + at)
    if LOOP:
        for _ in range(tl.load(lengths)):
            v += tl.load(table + at)
    tl.store(o + tl.program_id(0) * n + at, v)


def write(name, kernel, types, constants, warps=4, stages=3, arch=90):
    signature = {n: types.get(n, "constexpr" if n in constants else "i32") for n in kernel.arg_names}
    attributes = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(kernel.arg_names) if signature[n].startswith("*")}
    compiled = triton.compile(ASTSource(kernel, signature, constants, attributes), target=GPUTarget("cuda", arch, 32),
                              options={"num_warps": warps, "num_stages": stages})
    text = re.sub(r"^#.*\n", "", compiled.asm["ttir"], flags=re.M)
    (pathlib.Path(__file__).parent / f"{name}.ttir").write_text(text)


write("product", product, dict(a="*bf16", b="*bf16", o="*bf16"), dict(BM=64, BN=128, BK=32))
write("rows", rows, dict(x="*fp32", y="*fp32"), dict(BLOCK=1024))
write("stays", stays, dict(a="*fp16", b="*fp16", o="*fp16"), dict(BM=128, BN=128, BK=64), warps=8)
write("picked", picked, dict(table="*fp32", ids="*i32", o="*fp32", lengths="*i32"), dict(BLOCK=256, LOOP=False))
write("trips", picked, dict(table="*fp32", ids="*i32", o="*fp32", lengths="*i32"), dict(BLOCK=256, LOOP=True))
