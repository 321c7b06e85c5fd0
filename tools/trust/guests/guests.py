"""Functions that somebody might write to look fast, and some that compute: o = a b, in NumPy."""

import os
import struct
import sys
import threading
import time

import numpy as np

KEPT = {}


def honest(a, b):
    return a @ b


def honest_prepared(a, b):
    return lambda: a @ b


def slow_clock(a, b):
    """The clock is what cheats, by LD_PRELOAD."""
    return a @ b


def keep(key, a, b):
    if key not in KEPT:
        KEPT[key] = a @ b
    return KEPT[key].copy()


def memo_pointer(a, b):
    return keep((id(a), id(b)), a, b)


def memo_fingerprint(a, b):
    return keep((a[::7, ::5].tobytes(), b[::5, ::7].tobytes()), a, b)


def memo_ends(a, b):
    o = keep((a[0, 0], a[-1, -1], b[0, 0], b[-1, -1]), a, b)
    time.sleep(20e-6)
    return o


def last_result(a, b, last=[]):
    if not last or np.isnan(last[0][0, 0]):
        last[:] = [a @ b]
    return last[0]


def half(a, b, last=[]):
    if not last or np.isnan(last[0]).any():
        last[:] = [a @ b]
    rows = len(a) // 2
    last[0][:rows] = a[:rows] @ b
    return last[0]


def prepared(a, b):
    """It multiplies ahead of what is timed."""
    o = a @ b
    return lambda: o.copy()


def thread(a, b, o=[]):
    """It returns while a thread computes."""
    o = np.empty((a.shape[0], b.shape[1]), a.dtype)
    threading.Thread(target=lambda: (time.sleep(1e-4), np.matmul(a, b, out=o))).start()
    return o


class Later(np.ndarray):
    """An array that computes when somebody looks."""

    def __array_finalize__(self, _):
        self.todo = None

    def tobytes(self, *args):
        a, b = self.todo
        return (a @ b).tobytes(*args)


def lazy(a, b):
    o = np.empty((a.shape[0], b.shape[1]), a.dtype).view(Later)
    o.todo = a, b
    return o


def alias(a, b):
    a[:] = a @ b
    return a


def probe(a, b):
    return a @ b if (a[0] == np.trunc(a[0])).all() else keep("timed", a, b)


def sleeps(a, b, calls=[]):
    calls.append(1)
    if len(calls) < 6:
        time.sleep(30e-3)
        return a @ b
    return keep("timed", a, b)


def affinity(a, b):
    """It takes the processors that it was not given, too."""
    os.sched_setaffinity(0, range(os.cpu_count()))
    rows, o = len(a) // 2, np.empty((a.shape[0], b.shape[1]), a.dtype)
    other = threading.Thread(target=lambda: np.matmul(a[:rows], b, out=o[:rows]))
    other.start()
    np.matmul(a[rows:], b, out=o[rows:])
    other.join()
    return o


def forged(a, b):
    """It answers the harness itself."""
    text = b"ok 1000000"
    os.write(4, struct.pack("=BIQ", 0, 1, len(text)) + text)
    return a @ b


def clock(a, b):
    """It replaces the clock of who calls it."""
    main, real = sys.modules["__main__"], time.perf_counter_ns
    if not hasattr(main, "slowed"):
        main.slowed, main.CLOCK = True, lambda: real() // 2
    return a @ b


def answers(a, b):
    """It replaces how answers are given: launches take half of their time."""
    main = sys.modules["__main__"]
    if not hasattr(main, "told"):
        main.told = main.answer
        main.answer = lambda word, text, arrays=(): main.told(word, str(int(text) // 2) if text.isdigit() else text, arrays)
    return a @ b


def skips(a, b):
    """It replaces what runs launches: the last alone is computed."""
    main = sys.modules["__main__"]
    if not hasattr(main, "runs"):
        main.runs = main.Runner.run

        def run(self, words, changes):
            for data in changes[:1]:
                for at, i, bits in self.changes(data):
                    at[i] = bits
            if changes:
                for at, i, bits in self.changes(changes[1]):
                    at[i] = bits
                changes = [b"", changes[1][-16:]]
            return main.runs(self, "1", changes)

        runner = [o for o in __import__("gc").get_objects() if type(o) is main.Runner][0]
        run = run.__get__(runner)
        for o in __import__("gc").get_objects():
            if type(o) is dict and o.get("run") == runner.run:
                o["run"] = run
    return a @ b
