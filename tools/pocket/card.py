"""Prints the model card, from the scores that scripts/pocket.sh has collected.

usage: card.py FOLDER LOG.jsonl      FOLDER holds pocket.gguf, the scores (*.json) and chat.json
"""

import hashlib
import json
import pathlib
import sys

import evaluate

TEMPLATE = pathlib.Path(__file__).with_name("card.md")
SCORES = ("heldout", "heldout-restart", "heldout-off", "trained", "trained-restart", "trained-off")


def training(log):
    """Tokens and losses of each stage, from the log's lines."""
    stages = {}
    for line in map(json.loads, log.read_text().splitlines()):
        if "stage" in line:
            stages[line["stage"]] = line
    rows = ["| stage | steps | tokens per second | loss: statement | recall | untold | fact |",
            "|---|---|---|---|---|---|---|"]
    for name, line in stages.items():
        losses = " | ".join(str(line["losses"].get(kind, "")) for kind in ("statement", "recall", "untold", "fact"))
        rows.append(f"| {name} | {line['of']} | {line['tokens_per_second']} | {losses} |")
    return "\n".join(rows)


def changed_by_restarts(folder):
    """How many answers differ when the server restarts before each question; and those that do."""
    lines = []
    for mode in ("heldout", "trained"):
        if not (folder / f"{mode}-restart.json").exists():
            continue
        without, within = (json.loads((folder / f"{mode}{kind}.json").read_text())["answers"] for kind in ("", "-restart"))
        differ = [(a, b) for a, b in zip(without, within) if a["reply"] != b["reply"]]
        lines.append(f"{mode}: {len(differ)} of {len(without)} answers differ")
        lines += [f'- "{a["question"]}": "{a["reply"]}" / "{b["reply"]}"' for a, b in differ]
    return "\n".join(lines)


def main():
    folder, log = map(pathlib.Path, sys.argv[1:3])
    model = (folder / "pocket.gguf").read_bytes()
    tables = [evaluate.table(json.loads((folder / f"{name}.json").read_text())) for name in SCORES
              if (folder / f"{name}.json").exists()]
    chat = json.loads((folder / "chat.json").read_text())
    print(TEMPLATE.read_text().format(
        megabytes=f"{len(model) / 1e6:.2f}", hash=hashlib.sha256(model).hexdigest(), scores="\n\n".join(tables),
        restarts=changed_by_restarts(folder),
        training=training(log), chat="\n".join(f"> {user}\n\n{reply}\n" for user, reply in chat)), end="")


if __name__ == "__main__":
    main()
