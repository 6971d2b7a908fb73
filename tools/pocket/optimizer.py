"""Muon for matrices, AdamW for the rest.

Muon (K. Jordan, 2024) turns the averaged gradient of a matrix into the nearest matrix with equal
singular values, so that rare directions are learned as fast as common ones. `muon=False` leaves all to
AdamW; README.md compares the two.
"""

import torch


def orthogonal(gradient, steps=5):
    """About U V^T of the gradient's singular value decomposition, by Newton-Schulz iterations."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = gradient / (gradient.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.05):
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                average = self.state[p].setdefault("average", torch.zeros_like(p))
                average.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonal(p.grad.lerp(average, group["momentum"]))
                scale = max(1.0, p.shape[0] / p.shape[1]) ** 0.5
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"] * scale)


class Both:
    """The two optimizers as one. Learning rates are relative to each one's own."""

    MUON = 0.02
    ADAM = 2.5e-3

    def __init__(self, model, muon=True):
        matrices, embeddings, vectors = [], [], []
        for name, p in model.named_parameters():
            # The convolution's taps are no map from inputs to outputs.
            kind = embeddings if name == "embedding" else vectors if p.ndim < 2 or name.endswith("taps") else matrices
            kind.append(p)
        self.parts = [torch.optim.AdamW(
            [{"params": embeddings + ([] if muon else matrices), "weight_decay": 0.05},
             {"params": vectors, "weight_decay": 0.0}], lr=self.ADAM, betas=(0.9, 0.97))]
        self.rates = [self.ADAM]
        if muon:
            self.parts.append(Muon(matrices, lr=self.MUON))
            self.rates.append(self.MUON)

    def step(self, rate):
        for part, base in zip(self.parts, self.rates):
            for group in part.param_groups:
                group["lr"] = base * rate
            part.step()

    def state_dict(self):
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states):
        for part, state in zip(self.parts, states):
            part.load_state_dict(state)
