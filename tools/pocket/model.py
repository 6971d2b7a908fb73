"""Pocket's model: llama.cpp's architecture qwen35 (Gated DeltaNet and gated attention), small.

Layers follow src/models/qwen35.cpp of llama.cpp step by step; export.py writes their parameters
under that file's tensor names. Projections of the same input are one matrix here and are split when
they are exported.
"""

import dataclasses
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy, linear, softplus

from kernel import delta_net, rms_norm, swiglu

EPSILON = 1e-6
TAPS = 4


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int
    embedding: int = 192
    layers: int = 6
    attention_interval: int = 3  # layer i attends when (i + 1) % this == 0
    feed_forward: int = 384
    delta_heads: int = 4  # of keys and of values
    delta_state: int = 32  # the size that kernel.cc is compiled for
    heads: int = 4
    heads_kv: int = 2
    head_size: int = 64
    rope_dims: int = 16
    rope_base: float = 1e6
    rope_sections: tuple = (3, 3, 2, 0)

    def attends(self, layer):
        return (layer + 1) % self.attention_interval == 0


def _matrix(outputs, inputs, gain=1.0):
    return nn.Parameter(torch.randn(outputs, inputs) * gain / math.sqrt(inputs))


class DeltaNet(nn.Module):
    """Gated DeltaNet: each head keeps a matrix that maps keys to values and corrects it by each token."""

    def __init__(self, config):
        super().__init__()
        self.heads, self.state = config.delta_heads, config.delta_state
        inner = self.heads * self.state
        self.inner = inner
        # q, k, v; output gate; alpha (decay) and beta (strength) of each head
        self.project = _matrix(4 * inner + 2 * self.heads, config.embedding)
        taps = 0.2 * torch.randn(3 * inner, TAPS)
        taps[:, -1] += 0.7
        self.taps = nn.Parameter(taps)
        steps = torch.tensor([0.001, 0.01, 0.05, 0.2]).repeat(-(-self.heads // 4))[: self.heads]
        self.decay_bias = nn.Parameter(torch.log(torch.expm1(steps)))
        self.decay_log = nn.Parameter(torch.zeros(self.heads))
        self.norm = nn.Parameter(torch.ones(self.state))
        self.out = _matrix(config.embedding, inner, 1 / math.sqrt(12))

    def forward(self, x):
        rows, tokens, _ = x.shape
        mixed, gate, alpha, beta = linear(x, self.project).split(
            [3 * self.inner, self.inner, self.heads, self.heads], dim=-1)
        decays = -self.decay_log.exp() * softplus(alpha + self.decay_bias)
        out = delta_net(mixed.contiguous(), self.taps, decays, beta.sigmoid())
        out = rms_norm(out.view(rows, tokens, self.heads, self.state), self.norm, EPSILON)
        return linear(out.flatten(2) * nn.functional.silu(gate), self.out)


class Attention(nn.Module):
    """Causal attention with normalised q and k, partial rotary positions and a gate on its output."""

    BLOCK = 128  # queries at a time, so that keys after them cost nothing

    def __init__(self, config):
        super().__init__()
        self.config = config
        queries = config.heads * config.head_size
        keys = config.heads_kv * config.head_size
        self.sizes = [2 * queries, keys, keys]  # q and gate alternate head by head
        self.project = _matrix(sum(self.sizes), config.embedding)
        self.q_norm = nn.Parameter(torch.ones(config.head_size))
        self.k_norm = nn.Parameter(torch.ones(config.head_size))
        self.out = _matrix(config.embedding, queries, 1 / math.sqrt(12))

    def forward(self, x, rotation):
        c = self.config
        rows, tokens, _ = x.shape
        both, k, v = linear(x, self.project).split(self.sizes, dim=-1)
        q, gate = both.view(rows, tokens, c.heads, 2, c.head_size).unbind(3)
        q = rotate(rms_norm(q.contiguous(), self.q_norm, EPSILON), rotation)
        k = k.contiguous().view(rows, tokens, c.heads_kv, c.head_size)
        k = rotate(rms_norm(k, self.k_norm, EPSILON), rotation)
        v = v.reshape(rows, tokens, c.heads_kv, c.head_size)
        out = attend(q, k, v, self.BLOCK)
        return linear((out * gate.sigmoid()).flatten(2), self.out)


def attend(q, k, v, block):
    """[rows, tokens, heads, size] each; k and v have fewer heads, shared by neighbouring ones of q."""
    rows, tokens, heads, size = q.shape
    shared = heads // k.shape[2]
    # One matrix for each row and each head of k: its queries are those of all heads that share it.
    q = (q / math.sqrt(size)).view(rows, tokens, -1, shared, size).permute(0, 2, 3, 1, 4)
    k = k.permute(0, 2, 3, 1)
    v = v.transpose(1, 2)
    parts = []
    for begin in range(0, tokens, block):
        end = min(begin + block, tokens)
        scores = q[:, :, :, begin:end].flatten(2, 3) @ k[..., :end]
        own = scores.view(rows, -1, shared, end - begin, end)[..., begin:]
        own.add_(torch.full((end - begin, end - begin), -math.inf).triu(1))
        out = scores.softmax(-1) @ v[:, :, :end]
        parts.append(out.view(rows, heads, end - begin, size))
    return torch.cat(parts, 2).transpose(1, 2)


def rotation(config, tokens, dtype):
    """Cosines and sines of the rotary positions, [tokens, 1, rope_dims / 2] each."""
    half = config.rope_dims // 2
    rates = config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] * rates
    return angles.cos()[:, None].to(dtype), angles.sin()[:, None].to(dtype)


def rotate(x, cos_sin):
    cos, sin = cos_sin
    half = cos.shape[-1]
    a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)


class Layer(nn.Module):
    def __init__(self, config, attends):
        super().__init__()
        self.attends = attends
        self.norm = nn.Parameter(torch.ones(config.embedding))
        self.mix = Attention(config) if attends else DeltaNet(config)
        self.post_norm = nn.Parameter(torch.ones(config.embedding))
        self.gate_up = _matrix(2 * config.feed_forward, config.embedding)
        self.down = _matrix(config.embedding, config.feed_forward, 1 / math.sqrt(12))

    def forward(self, x, rotation):
        inner = rms_norm(x, self.norm, EPSILON)
        x = x + (self.mix(inner, rotation) if self.attends else self.mix(inner))
        inner = swiglu(linear(rms_norm(x, self.post_norm, EPSILON), self.gate_up))
        return x + linear(inner, self.down)


class Pocket(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(0.05 * torch.randn(config.vocabulary, config.embedding))
        self.layers = nn.ModuleList(
            Layer(config, config.attends(i)) for i in range(config.layers))
        self.norm = nn.Parameter(torch.ones(config.embedding))

    def forward(self, tokens):
        """Logits after each token; tokens [rows, tokens]."""
        return linear(self.hidden(tokens), self.embedding)

    def hidden(self, tokens):
        x = self.embedding[tokens]
        turns = rotation(self.config, tokens.shape[1], x.dtype)
        for layer in self.layers:
            x = layer(x, turns)
        return rms_norm(x, self.norm, EPSILON)

    def losses(self, tokens, wanted):
        """Cross entropy of each token that `wanted` marks (never a row's first), in row order."""
        before = wanted[:, 1:]
        hidden = self.hidden(tokens[:, :-1])[before]
        return cross_entropy(linear(hidden, self.embedding), tokens[:, 1:][before],
                             reduction="none")
