"""Settings that must be made before PyTorch is loaded: import this first.

One thread for each process: train.py runs one process for each core, which is faster than threads
that meet after every operation. Debian's OpenBLAS does not know processors that are newer than itself
and then computes four times slower than it could, so it is told what to use.
"""

import os
import pathlib


def _flags():
    try:
        return set(pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[1].split("\n", 1)[0].split())
    except (OSError, IndexError):
        return set()


def _blas_core():
    flags = _flags()
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        return "SkylakeX"
    return "Haswell" if {"avx2", "fma"} <= flags else None


os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
if _blas_core():
    os.environ.setdefault("OPENBLAS_CORETYPE", _blas_core())
