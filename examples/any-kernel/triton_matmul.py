"""The matrix product of Triton's tutorial 03, and how it is launched on any sizes."""

import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}, num_stages=3, num_warps=8),
        triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 8}, num_stages=4, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    in_group = GROUP * num_n
    group = pid // in_group
    first = group * GROUP
    size = min(num_m - first, GROUP)
    pid_m = first + (pid % in_group) % size
    pid_n = (pid % in_group) // size
    am = (pid_m * BM + tl.arange(0, BM)) % M
    bn = (pid_n * BN + tl.arange(0, BN)) % N
    kk = tl.arange(0, BK)
    a_ptrs = a_ptr + (am[:, None] * stride_am + kk[None, :] * stride_ak)
    b_ptrs = b_ptr + (kk[:, None] * stride_bk + bn[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=kk[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=kk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * cm[:, None] + stride_cn * cn[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


# What bench launches: strings are sizes of the problem, its arrays, or made of sizes and constants. Of the
# configurations of autotune it takes the first; "config": 1 is the second.
matladder = {
    "matmul_kernel": {
        "grid": "cdiv(m, BM) * cdiv(n, BN)",
        "arguments": {
            "a_ptr": "a", "b_ptr": "b", "c_ptr": "o", "M": "m", "N": "n", "K": "k",
            "stride_am": "k", "stride_ak": 1, "stride_bk": "n", "stride_bn": 1, "stride_cm": "n", "stride_cn": 1,
        },
        "constants": {"ACTIVATION": ""},
    }
}
