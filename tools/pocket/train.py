"""Trains Pocket from nothing; a run that was interrupted goes on where its last checkpoint is.

usage: train.py [--out FOLDER] [--seed N] [--scale S] [--workers N] [--minutes M]

Writes FOLDER/tokenizer.json, FOLDER/checkpoint.pt and FOLDER/log.jsonl. The result is a function of
the seed, the scale and the number of workers, on the same machine.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import time

import environment  # noqa: F401  (before torch)
import torch

import bpe
import data
import model as pocket
import quick
import team
from corpus import shares

CHECKPOINT_SECONDS = 120
LOG_EVERY = 20  # steps
WARMUP = 40  # steps of the first stage


@dataclasses.dataclass(frozen=True)
class Stage(shares.Shares):
    name: str
    rows: int
    length: int
    steps: int
    begin: float  # learning rates
    end: float

    def rate(self, step, steps):
        warmth = min(1.0, (step + 1) / WARMUP) if self is STAGES[0] else 1.0
        return warmth * (self.begin + (self.end - self.begin) * step / steps)


# About 50 million tokens, a fifth of them in rows of 2,048 and more. Small batches at first: steps count
# more than the tokens in them.
# The first stage is mostly copying: recall cannot begin before attention has learned to find what
# stood before and to go on from there, which happens after about 250 steps.
STAGES = (
    Stage("copying", 16, 256, 300, 2.5e-3, 2.5e-3, copying=0.6),
    Stage("short", 8, 256, 1600, 2.5e-3, 2.5e-3, garbled=0.2),
    Stage("medium", 8, 512, 1000, 2.5e-3, 1.7e-3, garbled=0.4),
    Stage("long", 4, 1024, 1000, 1.7e-3, 1.3e-3, sums=0.06, garbled=0.2, salads=0.1, further=0.2, written=0.6),
    Stage("longer", 2, 2048, 900, 1.3e-3, 0.9e-3, sums=0.06, garbled=0.2, salads=0.1, further=0.2, written=0.6),
    Stage("longest", 2, 4608, 350, 0.9e-3, 0.5e-3, sums=0.06, garbled=0.2, salads=0.1, further=0.2, written=0.6),
    Stage("written", 8, 512, 1500, 0.9e-3, 0.4e-3, sums=0.03, garbled=0.15, salads=0.1, further=0.2, written=0.7),
    Stage("last", 4, 1024, 400, 0.4e-3, 0.15e-3, sums=0.04, garbled=0.1, salads=0.1, further=0.2, written=0.6),
    Stage("last longest", 2, 4608, 100, 0.2e-3, 0.0, sums=0.04, garbled=0.1, salads=0.1, further=0.2, written=0.6),
    Stage("requests", 8, 512, 900, 0.7e-3, 0.3e-3, sums=0.03, garbled=0.1, salads=0.08, further=0.2, written=0.65,
          requests=0.45, corrections=0.05),
    Stage("end", 4, 1024, 250, 0.3e-3, 0.12e-3, sums=0.04, garbled=0.1, salads=0.05, further=0.2, written=0.55,
          requests=0.4, corrections=0.05),
    Stage("end longest", 2, 4608, 70, 0.2e-3, 0.0, sums=0.04, garbled=0.1, salads=0.05, further=0.2, written=0.55,
          requests=0.4, corrections=0.05),
    Stage("values", 8, 512, 650, 0.6e-3, 0.2e-3, sums=0.03, garbled=0.06, salads=0.04, further=0.15, written=0.7,
          requests=0.35, corrections=0.05, statements=0.15, facts=0.06, real=0.8),
    Stage("values longer", 4, 1024, 150, 0.25e-3, 0.1e-3, sums=0.04, garbled=0.05, salads=0.03, further=0.15,
          written=0.6, requests=0.35, corrections=0.05, statements=0.1, facts=0.1, real=0.7),
    Stage("values longest", 2, 4608, 45, 0.15e-3, 0.0, sums=0.04, garbled=0.05, salads=0.03, further=0.15,
          written=0.6, requests=0.35, corrections=0.05, statements=0.1, facts=0.1, real=0.7),
    Stage("scenes", 8, 512, 2600, 0.9e-3, 0.2e-3, sums=0.03, garbled=0.08, salads=0.04, further=0.1, written=0.8,
          requests=0.3, corrections=0.06, statements=0.2, facts=0.07, real=0.75, scenes=0.5, clauses=0.3, strange=0.3, swapped=0.2),
    Stage("scenes longer", 4, 1024, 250, 0.25e-3, 0.1e-3, sums=0.04, garbled=0.06, salads=0.03, further=0.1,
          written=0.65, requests=0.3, corrections=0.06, statements=0.1, facts=0.1, real=0.7, scenes=0.4, clauses=0.2, strange=0.2, swapped=0.15),
    Stage("scenes longest", 2, 4608, 60, 0.2e-3, 0.0, sums=0.04, garbled=0.06, salads=0.03, further=0.1,
          written=0.65, requests=0.3, corrections=0.06, statements=0.1, facts=0.1, real=0.7, scenes=0.4, clauses=0.2, strange=0.2, swapped=0.15),
)


def adamw(model):
    """Weight decay on matrices only; the convolution's taps are none."""
    matrices, others = [], []
    for name, p in model.named_parameters():
        (others if p.ndim < 2 or name.endswith("taps") else matrices).append(p)
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}],
                             betas=(0.9, 0.97))


def recipe_hash():
    """Of the stages, and of all files that the data and the model come from."""
    here = pathlib.Path(__file__).parent
    files = [here / name for name in ("bpe.py", "data.py", "model.py", "kernel.py", "kernel.cc", "delta_net.h")]
    for pattern in ("corpus/*.py", "corpus/written/*.txt", "probes/*.json"):
        files += sorted(here.glob(pattern))
    made = hashlib.sha256(repr(STAGES).encode())
    for file in files:
        made.update(file.read_bytes())
    return made.hexdigest()[:16]


class Training:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = arguments.out
        self.folder.mkdir(parents=True, exist_ok=True)
        self.run_key = self._run()  # once: files may change while this runs, but not what it computes
        self.tokenizer = self._tokenizer()
        torch.manual_seed(arguments.seed)
        self.model = pocket.Pocket(pocket.Config(len(self.tokenizer.tokens)))
        self.team = team.Team(self.model, arguments.workers)
        self.optimizer = adamw(self.model)
        self.stage, self.step = 0, 0
        self.totals = {}
        self._resume()

    def _tokenizer(self):
        path = self.folder / "tokenizer.json"
        if not path.exists():
            data.make_tokenizer(self.arguments.seed).save(path)
        return bpe.Tokenizer.load(path)

    def _resume(self):
        path = self.folder / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path)
        if state["run"] != self.run_key:
            raise SystemExit(f"train: error: {path} is of another run ({state['run']}): "
                             "remove the folder or name another one with --out")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.stage, self.step = state["stage"], state["step"]
        print(f"goes on at stage {self.stage}, step {self.step}")

    def _run(self):
        """What the result depends on: a checkpoint of anything else is not continued."""
        run = {name: getattr(self.arguments, name) for name in ("seed", "scale", "workers")}
        return {**run, "recipe": recipe_hash()}

    def _save(self):
        path = self.folder / "checkpoint.pt"
        unfinished = path.with_suffix(".tmp")
        torch.save({"run": self.run_key, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "stage": self.stage, "step": self.step}, unfinished)
        unfinished.rename(path)

    def compute(self, task, member):
        """One member's share of a step: gradients, and the sum and number of losses of each category."""
        stage, step = STAGES[task[0]], task[1]
        tokens, weights, categories = data.stage_batch(self.tokenizer, self.arguments.seed, stage, step)
        weights[:, 0] = 0
        whole = weights.sum()
        own = slice(member, None, self.arguments.workers)
        tokens, weights, categories = tokens[own], weights[own], categories[own]
        wanted = weights > 0
        losses = self.model.losses(tokens, wanted)
        ((losses * weights[wanted]).sum() / whole).backward()
        kinds, losses = categories[wanted], losses.detach()
        return {name: (losses[kinds == i].sum().item(), int((kinds == i).sum()))
                for i, name in enumerate(data.CATEGORIES) if name}

    def run(self):
        self.team.start(self.compute)
        begin = saved = time.monotonic()
        limit = self.arguments.minutes * 60
        while self.stage < len(STAGES) and time.monotonic() - begin < limit:
            self._one_step()
            if self.step == 0 or time.monotonic() - saved > CHECKPOINT_SECONDS:
                self._save()
                saved = time.monotonic()
        self._save()
        self.team.stop()
        return self.stage == len(STAGES)

    def _one_step(self):
        stage = STAGES[self.stage]
        steps = max(1, round(stage.steps * self.arguments.scale))
        begin = time.monotonic()
        reports = self.team.gradient((self.stage, self.step))
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = stage.rate(self.step, steps)
        self.optimizer.step()
        self._count(reports, stage.rows * stage.length, time.monotonic() - begin)
        self.step += 1
        if self.step % LOG_EVERY == 0 or self.step == steps:
            self._log(stage, steps)
        if self.step == steps:
            self.stage, self.step = self.stage + 1, 0
            self._look()

    def _count(self, reports, tokens, seconds):
        for report in reports:
            for name, (loss, count) in report.items():
                total = self.totals.setdefault(name, [0.0, 0])
                total[0] += loss
                total[1] += count
        total = self.totals.setdefault("speed", [0, 0.0])
        total[0] += tokens
        total[1] += seconds

    def _log(self, stage, steps):
        speed = self.totals.pop("speed")
        losses = {name: round(loss / count, 3) for name, (loss, count) in self.totals.items() if count}
        line = {"stage": stage.name, "step": self.step, "of": steps, "tokens_per_second": round(speed[0] / speed[1]),
                "losses": losses}
        self.totals = {}
        self._write(line)
        print(f"{stage.name:12} {self.step:5}/{steps}  {line['tokens_per_second']:6} tok/s  " +
              "  ".join(f"{name} {loss:.3f}" for name, loss in losses.items()), flush=True)

    def _look(self):
        """Between stages: how it does on the development probes, in percent."""
        percent = quick.scores(self.model, self.tokenizer)
        self._write({"dev": percent})
        print("dev probes    " + "  ".join(f"{name} {value}" for name, value in percent.items()), flush=True)

    def _write(self, line):
        with open(self.folder / "log.jsonl", "a") as log:
            log.write(json.dumps(line) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/pocket"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of steps")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="processes; 2 by default")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the same command goes on")
    torch.set_num_threads(1)
    if not Training(parser.parse_args()).run():
        raise SystemExit("train: stopped before the end; the same command goes on")


if __name__ == "__main__":
    main()
