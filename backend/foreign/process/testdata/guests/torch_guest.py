import torch


def matmul(a, b):
    if a.dtype is torch.int8:
        a, b = a.int(), b.int()
    return a @ b
