def matmul(a, b):
    """It imports nothing, and gets arrays of NumPy."""
    if a.dtype == "int8":
        a, b = a.astype("int32"), b.astype("int32")
    return (a @ b).astype(a.dtype)  # of bfloat16 it is float32
