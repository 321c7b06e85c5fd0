"""runner.py THREADS: calls functions of a Python file for matladder, and times them.

Requests come on descriptor 3, answers go to 4, as messages (internal/child): a byte 0, the
number of parts in four bytes, and the parts, each behind its length in eight. The first part
is text, the others are arrays in the machine's byte order.

  hello NAME PATH, then the   ready FUNCTION,FUNCTION,... VERSIONS; NAME is one, or * for all
    text of the file
  problem JSON                ok; {"Function", "In" and "Out": [{"Name", "Dtype", "Shape", …}], "Problem"}
  load, then the inputs       ok; where there were some, these lie in the same places
  prepare                     ok; calls the function once, unless that was done
  run LAUNCHES                ok NANOSECONDS; it prepares ahead, untimed
  run LAUNCHES, then changes  likewise; those of the first array are made ahead, and one of the second
                              before each launch, untimed: backend.Changes says how they are written
  poison                      ok; the output that there was is full of ones, and gone
  output                      ok, then the outputs
  export PLATFORM CORES KIND  ok LENGTH; what JAX makes of the function for the problem's shapes, and
                              for a device of that kind, as JAX calls it, with so many cores; of a
                              kernel of Triton, where PLATFORM is cuda and CORES the compute
                              capability, or hip and the architecture, JSON of its TTIR and of
                              what it is launched with
  exported                    ok, then that program, StableHLO as text, or that JSON
  compile ARCH WARPS STAGES,  ok LENGTH; exported then has JSON of what Triton makes of it for a GPU of
    then TTIR as text         AMD: its assembly ("text") and bytes of shared memory ("shared")

interpret in place of hello has kernels of Pallas and Triton run in their interpreters, as on the
device that follows the text of the file: PLATFORM CORES KIND.

Any answer may be "failed WHY" or "unsupported WHY". One process computes one problem after
another, and ends when nobody asks any more.
"""

import ast
import contextlib
import ctypes
import importlib.util
import inspect
import json
import os
import platform
import struct
import sys
import tempfile
import time
import traceback

THREADS = int(sys.argv[1])
CLOCK = time.perf_counter_ns
SELF = os.getpid()
if hasattr(os, "sched_setaffinity"):  # before libraries count cores
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
for descriptor in (3, 4):
    os.set_inheritable(descriptor, False)


class Unsupported(Exception):
    pass


class Failed(Exception):
    pass


def pip(package):
    return f"{sys.executable} -m pip install {package}"


def device(jax, platform, cores, kind):
    """A context in which JAX says that it has such a device."""
    sharding = jax.sharding
    if not hasattr(sharding, "AbstractDevice"):  # before JAX 0.10
        return contextlib.nullcontext()
    one = sharding.AbstractDevice(device_kind=kind, num_cores=int(cores), platform=platform)
    mesh = sharding.AbstractMesh((1,), ("device",), axis_types=(sharding.AxisType.Auto,), abstract_device=one)
    return sharding.use_abstract_mesh(mesh)


class NumPy:
    name = "numpy"

    def __init__(self, _):
        import numpy
        self.numpy = numpy

    def dtype(self, word):
        if word == "bfloat16":
            try:
                import ml_dtypes
            except ModuleNotFoundError:
                raise Unsupported(f"NumPy has no bfloat16 without the package ml_dtypes: {pip('ml_dtypes')}")
            return self.numpy.dtype(ml_dtypes.bfloat16)
        try:
            return self.numpy.dtype(word)
        except TypeError:
            raise Unsupported(f"{self.name} has no {word}")

    def array(self, data, word, shape):
        array = self.numpy.empty(shape, self.dtype(word))  # by NumPy itself: aligned, on large pages
        array.reshape(-1).view("uint8")[:] = self.numpy.frombuffer(data, "uint8")
        return array

    def prepare(self, function, inputs):
        return eagerly(function, inputs)

    def wait(self, out):
        pass

    def is_array(self, out):  # a subclass may compute when it is looked at
        return type(out) is self.numpy.ndarray

    def at(self, array):
        """Address and bytes of an array."""
        return array.ctypes.data, array.nbytes

    def word(self, out):
        return str(out.dtype)

    def data(self, out):
        return out.tobytes()

    def damage(self, out):
        if out.flags.writeable and out.flags.c_contiguous:
            ctypes.memset(out.ctypes.data, 0xFF, out.nbytes)


class Prepares(Exception):
    pass


class JAX(NumPy):
    name = "jax"

    def __init__(self, _):
        super().__init__(_)
        import jax
        self.jax, self.last = jax, (None, None)
        self.kind = type(jax.numpy.zeros(()))

    def array(self, data, word, shape):
        return self.jax.block_until_ready(self.jax.numpy.array(super().array(data, word, shape)))

    def prepare(self, function, inputs):
        try:
            if hasattr(function, "lower"):  # it is jitted
                return eagerly(function, inputs)
            return self.jitted(function, inputs) or eagerly(function, inputs)
        except ValueError as why:
            if "interpret mode is supported on CPU" in str(why):
                raise Unsupported("a Pallas kernel for TPUs does not run on a CPU: --topology v5e,v6e predicts it")
            raise

    def export(self, function, platform, cores, kind, shapes):
        from jax import export
        arrays = [self.jax.ShapeDtypeStruct(a["Shape"], self.dtype(a["Dtype"])) for a in shapes]

        def traced(*arrays):
            out = function(*arrays)
            return out() if callable(out) else out

        with device(self.jax, platform, cores, kind):  # kernels may ask for it, to choose blocks
            return str(export.export(self.jax.jit(traced), platforms=[platform])(*arrays).mlir_module())

    def jitted(self, function, inputs):
        """The function compiled, once for all inputs; None of one that prepares."""
        if self.last[0] is not function:
            def traced(*arrays):
                out = function(*arrays)
                if callable(out):
                    raise Prepares
                return out

            self.last = function, self.jax.jit(traced)
        compute = self.last[1]
        try:
            compute(*inputs)
        except Prepares:
            return None
        return lambda: compute(*inputs)

    def wait(self, out):
        try:
            out.block_until_ready()
        except AttributeError:  # several outputs
            self.jax.block_until_ready(out)

    def is_array(self, out):
        return type(out) is self.kind

    def at(self, array):
        return array.unsafe_buffer_pointer(), array.nbytes

    def data(self, out):
        return self.numpy.asarray(out).tobytes()

    def damage(self, out):
        ctypes.memset(out.unsafe_buffer_pointer(), 0xFF, out.nbytes)


class Torch:
    name = "torch"

    def __init__(self, torch):
        self.torch = torch
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)

    def array(self, data, word, shape):
        array = self.torch.empty(shape, dtype=self.dtype(word))
        ctypes.memmove(array.data_ptr(), (ctypes.c_char * len(data)).from_buffer(data), len(data))
        return array

    def dtype(self, word):
        dtype = getattr(self.torch, word, None)
        if not isinstance(dtype, self.torch.dtype):
            raise Unsupported(f"torch has no {word}")
        return dtype

    def prepare(self, function, inputs):
        return eagerly(function, inputs)

    def wait(self, out):
        pass

    def is_array(self, out):
        return type(out) is self.torch.Tensor

    def at(self, array):
        return array.data_ptr(), array.nbytes

    def word(self, out):
        return str(out.dtype).rpartition(".")[2]

    def data(self, out):
        out = out.contiguous()
        return ctypes.string_at(out.data_ptr(), out.nbytes)

    def damage(self, out):
        if out.is_contiguous():
            ctypes.memset(out.data_ptr(), 0xFF, out.nbytes)


class Triton(Torch):
    """Kernels of Triton: compiled with no GPU, or run by Triton's interpreter, on torch's arrays."""
    name = "triton"
    spelled = {"float32": "fp32", "bfloat16": "bf16", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
               "int8": "i8", "uint8": "u8", "int32": "i32"}

    def __init__(self, _):
        self.told = None

    @property
    def torch(self):
        try:
            import torch
        except ModuleNotFoundError:
            raise Unsupported(f"Triton's interpreter needs the module torch: {pip('torch')}")
        return torch

    def dtype(self, word):
        if word not in self.spelled:
            raise Unsupported(f"Triton has no {word}")
        return super().dtype(word) if self.interprets() else word

    def interprets(self):
        return os.environ.get("TRITON_INTERPRET") == "1"

    def array(self, data, word, shape):
        if not self.interprets():
            raise Unsupported("a kernel of Triton does not run on a CPU: --topology h100,a100 predicts it")
        return super().array(data, word, shape)

    def prepare(self, function, inputs):
        kernel, values, constants, grid, options = self.launch(function)
        outs = [self.torch.empty(a["Shape"], dtype=self.dtype(a["Dtype"])) for a in self.asked["Out"]]
        arrays = {a["Name"]: t for a, t in zip(self.asked["In"] + self.asked["Out"], [*inputs, *outs])}
        values = {n: arrays[v] if isinstance(v, str) else v for n, v in values.items()}
        return lambda: (kernel[grid](**values, **constants), outs)[1]

    def launch(self, kernel):
        """A kernel without its decorators, its arguments (of an array the name), those that are
        constants, grid and options."""
        name, told = self.asked["Function"], self.told
        if not isinstance(told, dict) or "grid" not in told:
            raise Failed(f"the file does not say how {name} is launched: matladder = {{{name!r}: {{'grid': ..., 'arguments': {{...}}, 'constants': {{...}}}}}}")
        for n, v in told.items():
            if n not in ("grid", "arguments", "constants", "num_warps", "num_stages", "config"):
                raise Failed(f"matladder[{name!r}] says {n}, and known are grid, arguments, constants, num_warps, num_stages, config")
            if n in ("arguments", "constants") and not isinstance(v, dict):
                raise Failed(f"matladder[{name!r}]: {n} is {v!r}, and a dictionary is wanted")
        constants, options, late = {}, {"num_warps": 4, "num_stages": 3}, []
        while type(kernel).__name__ in ("Autotuner", "Heuristics"):
            if type(kernel).__name__ == "Heuristics":
                late.append(kernel.values)
            else:
                at = told.get("config", 0)
                if at not in range(len(kernel.configs)):
                    raise Failed(f"matladder[{name!r}]: config {at}: {name} has {len(kernel.configs)}")
                config = kernel.configs[at]
                if config.num_ctas not in (None, 1):
                    raise Unsupported(f"num_ctas is {config.num_ctas}: clusters of blocks are not predicted")
                constants |= config.kwargs
                options = {n: getattr(config, n) for n in options}
            kernel = kernel.fn
        sizes = {n.lower(): v for n, v in self.asked["Problem"].items() if type(v) is int}
        arrays = [a["Name"] for a in self.asked["In"] + self.asked["Out"]]

        def value(v, scope):
            try:
                if callable(v):
                    return v(scope)
                if isinstance(v, str) and v not in arrays:
                    return eval(v, {"__builtins__": {}, "cdiv": lambda a, b: -(-a // b)}, scope)
            except Exception as why:
                raise Failed(f"matladder[{name!r}]: {v!r}: {type(why).__name__}: {why} (known: {', '.join([*arrays, *scope])})")
            return v

        constants |= told.get("constants", {})
        scope = sizes | constants
        values = {n: value(v, scope) for n, v in told.get("arguments", {}).items()}
        for more in late:
            constants |= {n: f(values | constants) for n, f in more.items()}
        given = values | constants
        defaults = {n for n, p in inspect.signature(kernel.fn).parameters.items() if p.default is not p.empty}
        missing = [n for n in kernel.arg_names if n not in given and n not in defaults]
        unknown = [n for n in given if n not in kernel.arg_names]
        if missing or unknown:
            raise Failed(f"matladder[{name!r}] " + (f"gives no {', '.join(missing)}" if missing else f"gives {', '.join(unknown)}")
                         + f": {name} takes {', '.join(kernel.arg_names)}")
        options |= {n: told[n] for n in options if n in told}
        for n, v in options.items():
            if type(v) is not int or not 0 < v <= 64 or n == "num_warps" and v & (v - 1):
                raise Failed(f"matladder[{name!r}]: {n} is {v!r}, and a {'power of two' if n == 'num_warps' else 'number'} up to 64 is wanted")
        grid = told["grid"]
        grid = value(grid, scope) if callable(grid) or isinstance(grid, str) else grid
        grid = [value(g, scope) for g in (grid if isinstance(grid, (tuple, list)) else [grid])]
        if not 0 < len(grid) < 4 or not all(isinstance(g, int) and g > 0 for g in grid):
            raise Failed(f"matladder[{name!r}]: the grid is {grid}, and one to three sizes above 0 are wanted")
        return kernel, values, constants, tuple(grid), options

    def export(self, function, platform, capability, kind, shapes):
        if platform not in ("cuda", "hip"):
            raise Unsupported("a kernel of Triton is predicted for GPUs: --topology h100,a100")
        import triton
        from triton.compiler import ASTSource
        kernel, values, constants, grid, options = self.launch(function)
        dtypes = {a["Name"]: self.spelled[a["Dtype"]] for a in self.asked["In"] + self.asked["Out"]}
        signature, attributes, numbers = {}, {}, {}
        for i, n in enumerate(kernel.arg_names):
            v = values.get(n)
            if n not in values or v is None or v is not True and v == 1:  # Triton makes constants of those
                signature[n] = "constexpr"
                if n in values:
                    constants[n] = v
                continue
            if isinstance(v, str):
                signature[n] = "*" + dtypes[v]
            elif isinstance(v, (bool, int)):
                signature[n] = "u1" if isinstance(v, bool) else "i32" if -1 << 31 <= v < 1 << 31 else "i64"
                numbers[n] = int(v)
            elif isinstance(v, float):
                signature[n] = "fp32"
            else:
                raise Failed(f"matladder[{self.asked['Function']!r}]: {n} is {v!r}, and an array's name or a number is wanted")
            if isinstance(v, str) or type(v) is int and v % 16 == 0:
                attributes[(i,)] = [["tt.divisibility", 16]]
        source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
        compiled = triton.compile(source, target=gpu(capability), options=options)
        return json.dumps({"ttir": compiled.asm["ttir"], "grid": grid, "args": numbers} | options)


class Buffers:
    """Arrays of Python alone: a memoryview in, anything with a buffer out."""
    name = "memoryview"
    formats = {"float32": "f", "int32": "i", "int8": "b", "uint8": "B"}

    def __init__(self, _):
        pass

    def dtype(self, word):
        if word not in self.formats:
            raise Unsupported(f"a memoryview has no {word}")
        return self.formats[word]

    def array(self, data, word, shape):
        return memoryview(data).cast(self.dtype(word), shape)

    def prepare(self, function, inputs):
        return eagerly(function, inputs)

    def wait(self, out):
        pass

    def is_array(self, out):
        return isinstance(out, memoryview)

    def at(self, array):
        if array.readonly or not array.c_contiguous:
            return 0, 0
        return ctypes.addressof(ctypes.c_char.from_buffer(array.cast("B"))), array.nbytes

    def word(self, out):
        return {f: word for word, f in self.formats.items()}.get(out.format, out.format)

    def data(self, out):
        return out.tobytes()

    def damage(self, out):
        if not out.readonly and out.c_contiguous:
            out.cast("B")[:] = b"\xff" * out.nbytes


KINDS = {kind.name: kind for kind in (JAX, Torch, NumPy, Buffers)}


def gpu(arch):
    """What Triton is told of a GPU: of NVIDIA's the compute capability, of AMD's the architecture."""
    from triton.backends.compiler import GPUTarget
    return GPUTarget("hip", arch, 64) if arch.startswith("gfx") else GPUTarget("cuda", int(arch), 32)


def is_triton(function):
    return type(function).__module__.startswith("triton.")


def eagerly(function, inputs):
    """What is timed: a function that returns one without arguments has prepared."""
    out = function(*inputs)
    return out if callable(out) else lambda: function(*inputs)


def versions(module):
    told = getattr(module, "matladder", {}).get("version")
    if told:
        return str(told)
    words = [f"python {platform.python_version()}"]
    for name in ("jax", "jaxlib", "torch", "triton", "numpy"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version and (name != "numpy" or len(words) == 1):  # beside others it is theirs
            words.append(f"{name} {version}")
    return " ".join(words)


class Runner:
    def __init__(self):
        self.module, self.kinds, self.made = None, {}, {}
        self.forget()

    def forget(self):
        self.inputs, self.compute, self.out, self.left, self.views = [], None, None, None, {}

    def hello(self, words, arrays):
        wanted, _, self.path = words.partition(" ")
        file = os.path.basename(self.path)
        name = os.path.splitext(file)[0]
        sys.path.insert(0, os.path.dirname(self.path))
        self.module = module = type(sys)(name if name not in sys.modules else "matladder_" + name)
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        if b"triton" in arrays[0] and importlib.util.find_spec("triton"):
            self.until_gpu(wanted, arrays[0])
        else:
            exec(compile(arrays[0], self.path, "exec", dont_inherit=True), module.__dict__)
        if not isinstance(getattr(module, "matladder", {}), dict):
            raise Failed(f"matladder in {file} is no dictionary")
        names = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        if wanted != "*":
            if not callable(getattr(module, wanted, None)) and not is_triton(getattr(module, wanted, None)):
                own = [n for n in names if getattr(getattr(module, n), "__module__", "") == module.__name__]
                raise Failed(f"no function {wanted} in {file}" + (f" (there are {', '.join(own[:8])})" if own else ""))
            names = [wanted]
            self.kind(wanted)
        return "ready", f"{','.join(names)} {versions(module)}", []

    def until_gpu(self, wanted, text):
        """Runs a file with kernels of Triton. What follows the wanted one often needs a GPU, as
        tests of tutorials do: after a failure only imports, definitions and matladder count."""
        import triton
        from triton.backends.compiler import GPUTarget

        class NoGPU:
            get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
            get_active_torch_device = staticmethod(lambda: __import__("torch").device("cpu"))

        triton.runtime.driver.set_active(NoGPU())
        failed = False
        for statement in ast.parse(text, self.path).body:
            told = isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "matladder"
            if failed and not told and not isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef)):
                continue
            try:
                exec(compile(ast.Module([statement], []), self.path, "exec", dont_inherit=True), self.module.__dict__)
            except Exception:
                if not failed and not hasattr(self.module, wanted) or told:
                    raise
                failed = True

    def interpret(self, words, arrays):
        if arrays[-1].startswith((b"cuda", b"hip")):
            arrays.pop()
            os.environ["TRITON_INTERPRET"] = "1"
            return self.hello(words, arrays)
        import jax
        from jax.experimental import pallas
        from jax.experimental.pallas import tpu
        with device(jax, *arrays.pop().decode().split(" ", 2)):
            try:
                info = tpu.get_tpu_info()
                tpu.get_tpu_info = lambda: info
            except (AttributeError, ValueError):
                pass  # a version of JAX that has none, or not of this device
        call = pallas.pallas_call
        pallas.pallas_call = lambda *args, **named: call(*args, **{**named, "interpret": named.get("interpret") or True})
        return self.hello(words, arrays)

    def export(self, words, _):
        if not isinstance(self.arrays, (JAX, Triton)):
            raise Unsupported(f"it takes arrays of {self.arrays.name}, and what JAX exports and kernels of Triton are predicted alone")
        if isinstance(self.arrays, JAX) and words.startswith("cuda"):
            raise Unsupported("of functions in JAX TPUs are predicted: --topology v5e,v6e; of GPUs kernels of Triton")
        self.program = self.arrays.export(self.function, *words.split(" ", 2), self.asked["In"]).encode()
        return "ok", str(len(self.program)), []

    def exported(self, _, __):
        return "ok", "", [self.program]

    def kind(self, name):
        """The framework whose arrays a function takes: what the file says, or has imported."""
        if is_triton(getattr(self.module, name)):
            return self.kinds.setdefault("triton", Triton(None))
        told = getattr(self.module, "matladder", {}).get(name, {}).get("arrays")
        told = told or next((n for n in KINDS if n in sys.modules), "numpy")
        if told not in KINDS:
            raise Failed(f"matladder[{name!r}] asks for arrays of {told!r} (known: {', '.join(KINDS)})")
        if told not in self.kinds:
            self.kinds[told] = KINDS[told](sys.modules.get(told))
        return self.kinds[told]

    def problem(self, words, _):
        self.forget()  # the arrays of the problem before are freed
        self.asked = asked = json.loads(words)
        self.arrays = self.kind(asked["Function"])
        self.arrays.asked, self.arrays.told = asked, getattr(self.module, "matladder", {}).get(asked["Function"])
        for a in asked["In"] + asked["Out"]:
            self.arrays.dtype(a["Dtype"])
        self.function = function = getattr(self.module, asked["Function"])
        try:
            parameter = inspect.signature(function).parameters.get("problem")
        except (TypeError, ValueError):
            parameter = None
        if parameter is not None and parameter.kind is parameter.KEYWORD_ONLY:
            self.function = lambda *inputs: function(*inputs, problem=asked["Problem"])
        return "ok", "", []

    def load(self, _, arrays):
        self.out = self.left = None
        for i, (a, data) in enumerate(zip(self.asked["In"], arrays)):
            if len(self.inputs) == len(arrays):  # what was prepared holds them
                at, n = self.arrays.at(self.inputs[i])
                ctypes.memmove(at, (ctypes.c_char * n).from_buffer(data), n)
            else:
                self.inputs.append(self.arrays.array(data, a["Dtype"], a["Shape"]))
        return "ok", "", []

    def words_of(self, i, size):
        """Input i as integers of so many bytes."""
        if (i, size) not in self.views:
            at, n = self.arrays.at(self.inputs[i])
            kind = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32}[size]
            self.views[i, size] = (kind * (n // size)).from_address(at)
        return self.views[i, size]

    def changes(self, data):
        return [(self.words_of(i, size), at // size, bits) for at, bits, i, size in struct.iter_unpack("<QIHH", data)]

    def compile(self, words, arrays):
        import triton
        arch, warps, stages = words.split()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "kernel.ttir")
            with open(file, "wb") as f:
                f.write(arrays[0])
            try:
                made = triton.compile(file, target=gpu(arch), options={"num_warps": int(warps), "num_stages": int(stages)})
            except RuntimeError as why:  # of MLIR and LLVM
                raise Unsupported(str(why))
        self.program = json.dumps({"text": made.asm["amdgcn"], "shared": made.metadata.shared}).encode()
        return "ok", str(len(self.program)), []

    def taken(self, out):
        """The outputs, which are as they must be, or why they are not."""
        want, name = self.asked["Out"], self.asked["Function"]
        outs = out if isinstance(out, (tuple, list)) and (len(want) > 1 or len(out) == 1) else (out,)
        if isinstance(self.arrays, Buffers) and len(want) == len(outs):
            outs = [view(o) for o in outs]
        spelled = " and ".join(f"{a['Name']} of {shape(a['Shape'])} {a['Dtype']}" for a in want)
        if len(outs) != len(want):
            raise Failed(f"{name} returns {len(outs)} arrays, and {spelled} is wanted")
        for o, a in zip(outs, want):
            if not self.arrays.is_array(o):
                got = "nothing (None)" if o is None else f"a {type(o).__module__}.{type(o).__qualname__}"
                raise Failed(f"{name} returns {got}, and an array of {self.arrays.name} is wanted: {spelled}")
            if list(o.shape) != a["Shape"] or self.arrays.word(o) != a["Dtype"]:
                raise Failed(f"{name} returns {shape(o.shape)} {self.arrays.word(o)}, and {spelled} is wanted")
        for o in outs:
            for a, i in zip(self.asked["In"], self.inputs):
                (at, n), (begin, m) = self.arrays.at(o), self.arrays.at(i)
                if begin < at + n and at < begin + m:
                    raise Failed(f"{name} returns memory of its input {a['Name']}")
        self.out = outs

    def prepare(self, _=None, __=None):
        if self.compute is None:  # under the time limit of a run: it compiles, or does not return
            self.compute = self.arrays.prepare(self.function, self.inputs)
            out = self.compute()
            self.arrays.wait(out)
            self.taken(out)
        return "ok", "", []

    def run(self, words, changes):
        self.prepare()
        compute, wait, clock, elapsed = self.compute, self.arrays.wait, CLOCK, 0
        if changes:
            for words_of, i, bits in self.changes(changes[0]):
                words_of[i] = bits
            for words_of, i, bits in self.changes(changes[1]):
                words_of[i] = bits
                begin = clock()
                out = compute()
                wait(out)
                elapsed += clock() - begin
        else:
            begin = clock()
            for _ in range(int(words)):
                out = compute()
                wait(out)
            elapsed = clock() - begin
        self.taken(out)
        self.left = [self.arrays.data(o) for o in self.out]  # at once: what a thread writes later is too late
        return "ok", str(elapsed), []

    def poison(self, _, __):
        for out in self.out or ():
            self.arrays.damage(out)
        self.out = self.left = None
        return "ok", "", []

    def output(self, _, __):
        return "ok", "", self.left


def view(out):
    try:
        return memoryview(out)
    except TypeError:
        return out


def shape(sizes):
    return "×".join(map(str, sizes)) or "one"


def reason(path, why):
    """One line of what the file raised, and where."""
    if isinstance(why, Failed):
        return str(why)
    text = " ".join(str(why).split())
    if isinstance(why, SystemExit):
        text = f"it calls sys.exit({why.code!r})"
    elif isinstance(why, SyntaxError) and why.filename == path:
        text = f"line {why.lineno}: {why.msg}"
    elif isinstance(why, ModuleNotFoundError) and why.name:
        package = why.name.partition(".")[0]
        if importlib.util.find_spec(package) is None:
            return f"{os.path.basename(path)} needs the module {package}, which {sys.executable} does not have: {pip(package)}"
    else:
        text = f"{type(why).__name__}: {text}"
        if isinstance(why, (AttributeError, ImportError)):
            text += f" ({versions(None)})"
    lines = [f.lineno for f in traceback.extract_tb(why.__traceback__) if f.filename == path]
    return f"{os.path.basename(path)}{f':{lines[-1]}' if lines else ''}: {text}"


def read(n):
    data = bytearray()
    while len(data) < n:
        more = os.read(3, min(n - len(data), 1 << 24))
        if not more:
            os._exit(0)  # the parent is gone; no destructors, which may wait for threads
        data += more
    return data


def write(data):
    view = memoryview(data)
    while len(view):
        view = view[os.write(4, view):]


def answer(word, text, arrays=()):
    if os.getpid() != SELF:
        os._exit(0)  # the file forked, and this process is another
    parts = [f"{word} {text}".strip().replace("\n", " ").encode(errors="replace"), *arrays]
    write(struct.pack("=BI", 0, len(parts)))
    for part in parts:
        write(struct.pack("=Q", len(part)))
        write(part)


def serve():
    runner = Runner()
    requests = {"hello": runner.hello, "problem": runner.problem, "load": runner.load,
                "prepare": runner.prepare, "run": runner.run, "poison": runner.poison, "output": runner.output,
                "interpret": runner.interpret, "export": runner.export, "exported": runner.exported,
                "compile": runner.compile}
    while True:
        kind, count = struct.unpack("=BI", read(5))
        if kind != 0:
            os._exit(2)
        parts = [read(struct.unpack("=Q", read(8))[0]) for _ in range(count)]
        word, _, words = parts[0].decode().partition(" ")
        try:
            answered = requests[word](words, parts[1:])
        except (Unsupported, NotImplementedError) as why:
            answered = "unsupported", (" ".join(str(why).split()) or "it raises NotImplementedError")[:900]
        except BaseException as why:  # whatever a file raises is a row
            answered = "failed", reason(runner.path, why)[:900]
        answer(*answered)


serve()
