"""kernel.cc as PyTorch functions with gradients: compiled once, kept in build/pocket.

delta_net, rms_norm and swiglu take contiguous CPU tensors of one type, float32 or float64.
"""

import ctypes
import hashlib
import os
import pathlib
import subprocess

import torch

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = [pathlib.Path(__file__).with_name(name) for name in ("kernel.cc", "delta_net.h")]
BUILD = ROOT / "build" / "pocket"
FLAGS = [f"-I{ROOT}", "-std=c++20", "-O3", "-march=native", "-ffast-math", "-fPIC", "-shared"]


def _compiled(*flags):
    """The library of these very sources, compiled now if nobody did before."""
    flags = [*FLAGS, *flags]
    text = b"".join(source.read_bytes() for source in SOURCES) + " ".join(flags).encode()
    library = BUILD / f"kernel-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not library.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_suffix(f".{os.getpid()}")  # several processes may come here at once
        subprocess.run(["g++", *flags, "-o", unfinished, SOURCES[0]], check=True)
        unfinished.rename(library)
    return ctypes.CDLL(str(library))


_libraries = {torch.float32: _compiled(), torch.float64: _compiled("-DPOCKET_DOUBLE")}


def _call(name, like, *arguments):
    """Calls the function for the type of `like`; tensors go as pointers."""
    converted = []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            assert argument.is_contiguous() and argument.dtype == like.dtype
            converted.append(ctypes.c_void_p(argument.data_ptr()))
        elif isinstance(argument, float):
            converted.append(ctypes.c_double(argument))
        else:
            converted.append(argument)
    getattr(_libraries[like.dtype], name)(*converted)


class _DeltaNet(torch.autograd.Function):
    @staticmethod
    def forward(ctx, mixed, taps, decays, betas):
        ctx.save_for_backward(mixed, taps, decays, betas)
        rows, tokens, heads = decays.shape
        out = mixed.new_empty(rows, tokens, mixed.shape[2] // 3)
        _call("delta_net", mixed, mixed, taps, decays, betas, out, rows, tokens, heads)
        return out

    @staticmethod
    def backward(ctx, grad):
        mixed, taps, decays, betas = ctx.saved_tensors
        grads = (torch.empty_like(mixed), torch.zeros_like(taps), torch.empty_like(decays),
                 torch.empty_like(betas))
        _call("delta_net_backward", mixed, mixed, taps, decays, betas, grad.contiguous(), *grads,
              *decays.shape)
        return grads


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, epsilon):
        ctx.save_for_backward(x, weight)
        ctx.epsilon = epsilon
        out = torch.empty_like(x)
        size = weight.numel()
        _call("rms_norm", x, x, weight, out, ctypes.c_int64(x.numel() // size), size, epsilon)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grads = torch.empty_like(x), torch.zeros_like(weight)
        size = weight.numel()
        _call("rms_norm_backward", x, x, weight, grad.contiguous(), *grads,
              ctypes.c_int64(x.numel() // size), size, ctx.epsilon)
        return *grads, None


class _SwiGlu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        size = x.shape[-1] // 2
        out = x.new_empty(*x.shape[:-1], size)
        _call("swiglu", x, x, out, ctypes.c_int64(out.numel() // size), size)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad_in = torch.empty_like(x)
        size = x.shape[-1] // 2
        _call("swiglu_backward", x, x, grad.contiguous(), grad_in,
              ctypes.c_int64(grad.numel() // size), size)
        return grad_in


def delta_net(mixed, taps, decays, betas):
    """The core of a Gated DeltaNet layer.

    mixed  [rows, tokens, 3 * heads * 32]: q, k and v of all heads, before the convolution
    taps   [3 * heads * 32, 4]: the causal convolution; the last tap is the token itself
    decays [rows, tokens, heads]: logarithm of what remains of the state
    betas  [rows, tokens, heads]: how much of the correction is stored
    gives  [rows, tokens, heads * 32]
    """
    return _DeltaNet.apply(mixed, taps, decays, betas)


def rms_norm(x, weight, epsilon=1e-6):
    """x / sqrt(mean(x^2) + epsilon) * weight, over the last len(weight) elements."""
    return _RmsNorm.apply(x, weight, epsilon)


def swiglu(x):
    """silu(first half) * second half, over the last dimension."""
    return _SwiGlu.apply(x)
