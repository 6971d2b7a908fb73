"""A quick look at the development probes, without a server: for tuning and between stages.

The probe is read with its answer in place. If each token of the answer is the likeliest one there, the
model would have written just this answer; otherwise it would not. Of a probe about recall, the
confirmation of what was told is judged in the same way ("told").

usage: quick.py FOLDER [--mode dev|wordings]     of the checkpoint in FOLDER; says what was missed
"""

import argparse
import collections
import pathlib

import environment  # noqa: F401  (before torch)
import torch

import bpe
import data
import model as pocket
import probes
from corpus.render import Conversation, Exchange

LONGEST = 1000  # tokens of distance: farther ones take too long between stages


def conversation(probe, chatter):
    """What is told and confirmed, chatter, and the question with its answer; judged categories set."""
    exchanges = [Exchange(told, "Noted: " + probe.answer[0].lower() + probe.answer[1:], "", "statement", told=True)
                 for told in probe.told]
    exchanges += [Exchange(user, answer, "", "") for user, answer in chatter]
    exchanges.append(Exchange(probe.question, probe.answer, "", "recall" if probe.told else "fact"))
    return Conversation(exchanges)


def judged(model, tokenizer, made):
    """For each judged category, whether all of its tokens are the likeliest ones."""
    tokens, _, categories = data.encode(tokenizer, made.pieces(made.exact_forms("closed")))
    with torch.no_grad():
        hits = model(torch.tensor([tokens]))[0, :-1].argmax(-1) == torch.tensor(tokens[1:])
    right = {}
    for hit, category in zip(hits.tolist(), categories[1:]):
        if category:
            name = data.CATEGORIES[category]
            right[name] = right.get(name, True) and hit
    return right


def look(model, tokenizer, mode):
    """(probe, {category: right}) of every simple probe that is near enough."""
    chatter = probes.chatter()
    lengths = [len(tokenizer.encode(user + answer)) + 10 for user, answer in chatter]
    for number, probe in enumerate(probes.make(mode)):
        if len(probe.told) > 1 or probe.told and not probe.value or probe.others or probe.distance > LONGEST:
            continue
        between, length, at = [], 0, number * 7
        while length < probe.distance:
            between.append(chatter[at % len(chatter)])
            length += lengths[at % len(chatter)]
            at += 1
        verdict = judged(model, tokenizer, conversation(probe, between))
        if "statement" in verdict:
            verdict = {"told": verdict["statement"], probe.category: verdict["recall"]}
        yield probe, verdict


def percent(verdicts):
    """{category: percent}"""
    right, count = collections.Counter(), collections.Counter()
    for verdict in verdicts:
        right.update({name: int(hit) for name, hit in verdict.items()})
        count.update(verdict.keys())
    return {name: round(100 * right[name] / count[name], 1) for name in count}


def scores(model, tokenizer, mode="dev"):
    """{category: percent}, for facts and for recall up to LONGEST."""
    return percent(verdict for _, verdict in look(model, tokenizer, mode))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--mode", choices=("dev", "wordings"), default="dev")
    arguments = parser.parse_args()
    tokenizer = bpe.Tokenizer.load(arguments.folder / "tokenizer.json")
    model = pocket.Pocket(pocket.Config(len(tokenizer.tokens)))
    model.load_state_dict(torch.load(arguments.folder / "checkpoint.pt")["model"])
    seen = list(look(model, tokenizer, arguments.mode))
    for probe, verdict in seen:
        for name in (name for name, hit in verdict.items() if not hit):
            print(f"{name}: {' '.join(probe.told) if name == 'told' else probe.question} ({probe.answer})")
    print(percent(verdict for _, verdict in seen))


if __name__ == "__main__":
    main()
