"""Goal: the compiled kernels and their gradients are right. Method: in float64 against plain PyTorch,
one token after another, as llama.cpp's graph reads."""

import unittest

import common  # noqa: F401
import torch
from torch.nn.functional import normalize, pad, silu

import kernel

STATE = 32


def delta_net(mixed, taps, decays, betas):
    """The recurrence as it is defined."""
    rows, tokens, heads = decays.shape
    padded = pad(mixed, (0, 0, 3, 0))
    mixed = silu(sum(padded[:, tap:tap + tokens] * taps[:, tap] for tap in range(4)))
    q, k, v = mixed.view(rows, tokens, 3, heads, STATE).unbind(2)
    q, k = normalize(q, dim=-1, eps=1e-6) / STATE ** 0.5, normalize(k, dim=-1, eps=1e-6)
    state = torch.zeros(rows, heads, STATE, STATE, dtype=mixed.dtype)
    out = []
    for t in range(tokens):
        state = state * decays[:, t, :, None, None].exp()
        recalled = torch.einsum("rhk,rhkv->rhv", k[:, t], state)
        update = betas[:, t, :, None] * (v[:, t] - recalled)
        state = state + k[:, t, :, :, None] * update[:, :, None]
        out.append(torch.einsum("rhk,rhkv->rhv", q[:, t], state))
    return torch.stack(out, 1).flatten(2)


def rms_norm(x, weight):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight


def swiglu(x):
    gate, up = x.chunk(2, -1)
    return silu(gate) * up


class KernelTest(unittest.TestCase):
    def assert_same(self, fast, plain, inputs):
        """Outputs and the gradients of a random projection of them."""
        torch.manual_seed(7)
        results = []
        for function in (fast, plain):
            leaves = [x.clone().requires_grad_() for x in inputs]
            out = function(*leaves)
            torch.manual_seed(8)
            (out * torch.randn_like(out)).sum().backward()
            results.append([out.detach(), *(leaf.grad for leaf in leaves)])
        for one, other in zip(*results):
            self.assertGreater(other.abs().max(), 1e-4)
            self.assertLess((one - other).abs().max(), 1e-9)

    def test_delta_net(self):
        torch.manual_seed(1)
        rows, tokens, heads = 2, 75, 3  # more than two chunks, and a part of one
        inputs = [torch.randn(rows, tokens, 3 * heads * STATE), torch.randn(3 * heads * STATE, 4),
                  -torch.rand(rows, tokens, heads), torch.rand(rows, tokens, heads)]
        self.assert_same(kernel.delta_net, delta_net, [x.double() for x in inputs])

    def test_delta_net_of_few_tokens(self):
        torch.manual_seed(2)
        inputs = [torch.randn(1, 2, 3 * STATE), torch.randn(3 * STATE, 4), -torch.rand(1, 2, 1), torch.rand(1, 2, 1)]
        self.assert_same(kernel.delta_net, delta_net, [x.double() for x in inputs])

    def test_rms_norm(self):
        torch.manual_seed(3)
        self.assert_same(kernel.rms_norm, rms_norm, [torch.randn(5, 7, 48).double(), torch.randn(48).double()])

    def test_swiglu(self):
        torch.manual_seed(4)
        self.assert_same(kernel.swiglu, swiglu, [torch.randn(5, 7, 48).double()])

    def test_float_is_close_to_double(self):
        torch.manual_seed(5)
        inputs = [torch.randn(1, 200, 96), torch.randn(96, 4), -torch.rand(1, 200, 1), torch.rand(1, 200, 1)]
        single, double = kernel.delta_net(*inputs), kernel.delta_net(*(x.double() for x in inputs))
        self.assertLess((single - double).abs().max(), 1e-4)


if __name__ == "__main__":
    unittest.main()
