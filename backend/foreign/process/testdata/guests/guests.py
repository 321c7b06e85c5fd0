"""Functions that somebody might write, good and bad, of Python alone: o = a b."""

import os
import sys
import time


def matmul(a, b):
    m, k, n = a.shape + b.shape[1:]
    o = memoryview(bytearray(4 * m * n)).cast("B").cast("f", [m, n])
    for i in range(m):
        for j in range(n):
            o[i, j] = sum(a[i, l] * b[l, j] for l in range(k))
    return o


def prepares(a, b):
    return lambda: matmul(a, b)


def asks(a, b, *, problem):
    if (problem["M"], problem["K"], problem["N"], problem["A"]) != (*a.shape, b.shape[1], "float32"):
        raise ValueError(problem)
    return matmul(a, b)


def wrong(a, b):
    o = matmul(a, b)
    o[0, 1] += 1
    return o


def nan(a, b):
    o = matmul(a, b)
    o[0, 1] = float("nan")
    return o


def remembers(a, b, kept=[]):
    kept.append(matmul(a, b))
    return kept[0]


def transposed(a, b):
    return matmul(a, b).cast("B").cast("f", [b.shape[1], a.shape[0]])


def integers(a, b):
    return matmul(a, b).cast("B").cast("i", [a.shape[0], b.shape[1]])


def nothing(a, b):
    matmul(a, b)


def rows(a, b):
    return matmul(a, b).tolist()


def raises(a, b):
    raise ValueError("two\nlines")


def refuses(a, b):
    raise NotImplementedError("sizes are multiples of 128")


def leaves(a, b):
    sys.exit(3)


def exits(a, b):
    print("no licence found", flush=True)
    os._exit(3)


def aborts(a, b):
    os.abort()


def floods(a, b):
    for _ in range(1 << 7):
        os.write(1, b"x" * (1 << 18))
    return matmul(a, b)


def forks(a, b):
    os.fork()
    return matmul(a, b)


def asks_people(a, b):
    return input("how? ")


def closes(a, b):
    os.closerange(3, 99)


def hangs(a, b):
    while True:
        time.sleep(1)


def wants_tensors(a, b):
    return a


def wants_bfloat16(a, b):
    return a


matladder = {name: {"arrays": "memoryview"} for name, f in list(globals().items()) if callable(f)}
matladder["wants_tensors"] = {"arrays": "tensorflow"}
