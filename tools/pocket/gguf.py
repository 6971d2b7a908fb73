"""Writes GGUF files (version 3): metadata, tensors in F32 or Q8_0. The format: ggml's docs/gguf.md."""

import struct

import numpy as np

ALIGNMENT = 32
BLOCK = 32  # values of a Q8_0 block, which have one scale
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_F32, _Q8_0 = 0, 8


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """A value with its type in front. Whole numbers are uint32; lists hold strings or int32."""
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", _FLOAT32, value)
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _string(value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", _ARRAY, _STRING, len(value)) + b"".join(map(_string, value))
    return struct.pack("<IIQ", _ARRAY, _INT32, len(value)) + struct.pack(f"<{len(value)}i", *value)


def quantize(values):
    """Q8_0 as ggml does it: blocks of 32, (float16 scale, 32 signed bytes)."""
    blocks = np.ascontiguousarray(values, np.float32).reshape(-1, BLOCK)
    scales = np.abs(blocks).max(axis=1) / np.float32(127)
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    scaled = blocks * inverse[:, None]
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int8)  # half away from zero
    return scales.astype(np.float16), rounded


def dequantize(values):
    """What remains of `values` after Q8_0."""
    scales, rounded = quantize(values)
    return (scales.astype(np.float32)[:, None] * rounded).reshape(np.shape(values))


def _encoded(values, quantized):
    if not quantized:
        return np.ascontiguousarray(values, np.float32).tobytes()
    scales, rounded = quantize(values)
    block = np.dtype([("scale", np.float16), ("values", np.int8, BLOCK)])
    blocks = np.empty(len(scales), block)
    blocks["scale"], blocks["values"] = scales, rounded
    return blocks.tobytes()


def write(path, metadata, tensors):
    """`tensors`: (name, array, whether in Q8_0), rows in the last dimension. The file appears complete."""
    header = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    header += [_string(key) + _value(value) for key, value in metadata.items()]
    data, offset = [], 0
    for name, values, quantized in tensors:
        encoded = _encoded(values, quantized)
        sizes = values.shape[::-1]  # ggml's order: the row length first
        header.append(_string(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes) +
                      struct.pack("<IQ", _Q8_0 if quantized else _F32, offset))
        data.append(encoded + bytes(-len(encoded) % ALIGNMENT))
        offset += len(data[-1])
    head = b"".join(header)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_bytes(head + bytes(-len(head) % ALIGNMENT) + b"".join(data))
    unfinished.rename(path)
