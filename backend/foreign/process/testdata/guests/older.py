import os

matmul = os.matmul
