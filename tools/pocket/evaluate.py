"""Scores a Pocket that Samovar serves: whole conversations over HTTP, temperature 0.

usage: evaluate.py MODEL.gguf --mode heldout|dev|wordings|trained [--restart] [--thinking on|off] [--json FILE]
       evaluate.py MODEL.gguf --chat FILE     one conversation, the user's lines from a file

With --restart the server ends and starts anew before each question, and goes on from its store.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import probes

GOALS = {"heldout": {"facts": 85, "recall 300": 95, "recall 1000": 90, "recall 4000": 75},
         "trained": {"facts": 98, "recall 300": 98, "recall 1000": 95, "recall 4000": 85}}


class Server:
    """`samovar serve` on a free port, with a store that survives restarts."""

    def __init__(self, program, model, folder, thinking, flags=()):
        self.command = [program, "serve", "-m", model, "--port", "0", "-c", "16384", "-t", "1", "-tb", "1",
                        "--store-dir", f"{folder}/store", *flags]
        self.log = pathlib.Path(folder) / "server.log"
        self.thinking = thinking
        self.process = None

    def start(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 120
        while "\nserving " not in (text := self.log.read_text()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"evaluate: error: the server does not serve:\n{text}")
            time.sleep(0.02)
        self.address = "http://" + re.search(r"127\.0\.0\.1:\d+", text).group()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)

    def restart(self):
        self.stop()
        self.start()

    def post(self, path, body):
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)

    def reply(self, messages):
        body = {"messages": messages, "temperature": 0, "max_tokens": 120}
        if not self.thinking:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return self.post("/v1/chat/completions", body)["choices"][0]["message"]["content"]

    def tokens(self, text):
        return self.post("/tokenize", {"content": text})["count"]


def turn(user, answer):
    return [{"role": "user", "content": user}, {"role": "assistant", "content": answer}]


class Evaluation:
    def __init__(self, server, restart):
        self.server, self.restart = server, restart
        self.chatter = [(turn(user, answer), server.tokens(
            f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"))
            for user, answer in probes.chatter()]

    def between(self, distance, probe_number):
        """Chatter of at least `distance` tokens, another stretch for each probe."""
        messages, length = [], 0
        at = random.Random(probe_number).randrange(len(self.chatter))
        while length < distance:
            exchange, tokens = self.chatter[at % len(self.chatter)]
            messages += exchange
            length += tokens
            at += 1
        return messages

    def ask(self, number, probe):
        """(its replies to what it is told, the answer); of the chatter, the answers are given."""
        messages = []
        for told in probe.told:
            messages.append({"role": "user", "content": told})
            messages.append({"role": "assistant", "content": self.server.reply(messages)})
        noted = [message["content"] for message in messages[1::2]]
        messages += self.between(probe.distance, number)
        if self.restart:
            if messages:
                self.server.reply(messages[:-1])
            self.server.restart()
        return noted, self.server.reply(messages + [{"role": "user", "content": probe.question}])


def leaks(asked, reply, values):
    """Values of other conversations in a reply. Common words may be right by chance: only rare ones count."""
    own = " ".join([*asked.told, asked.question, asked.answer])
    return [value for value in values if probes.contains(reply, value) and not probes.contains(own, value)]


def score(evaluation, mode, limit, only=""):
    made = [probe for probe in probes.make(mode) if probe.category.startswith(only)]
    if limit:
        made = random.Random(1).sample(made, min(limit, len(made)))
    rare = {p.value for p in made if p.value and (p.value[0].isupper() or p.value.isdigit() and len(p.value) > 3)}
    right, exact, count = (collections.Counter() for _ in range(3))
    answers, leaked = [], 0
    for number, probe in enumerate(made):
        noted, reply = evaluation.ask(number, probe)
        good = probe.is_right(reply)
        count[probe.category] += 1
        right[probe.category] += good
        exact[probe.category] += reply == probe.answer
        leaked += len(leaks(probe, reply, rare))
        answers.append({"category": probe.category, "told": probe.told, "noted": noted, "question": probe.question,
                        "expected": probe.answer, "reply": reply, "right": good})
    goals = GOALS.get(mode, {})
    categories = {name: {"right": right[name], "of": count[name], "percent": round(100 * right[name] / count[name], 1),
                         "exact": exact[name], "goal": goals.get(name)} for name in count}
    return {"mode": mode, "restart": evaluation.restart, "thinking": evaluation.server.thinking,
            "values of other conversations in replies": leaked, "categories": categories, "answers": answers}


def chat(server, lines):
    """A transcript: [user, reply] pairs of one conversation."""
    messages = []
    for line in lines:
        messages.append({"role": "user", "content": line})
        messages.append({"role": "assistant", "content": server.reply(messages)})
    return [[user["content"], reply["content"]] for user, reply in zip(messages[::2], messages[1::2])]


def table(scores):
    how = f"{scores['mode']}{', restart before each question' if scores['restart'] else ''}, " \
          f"thinking {'on' if scores['thinking'] else 'off'}"
    lines = [f"| {how} | right | of | percent | goal | whole reply equal |", "|---|---|---|---|---|---|"]
    for name, row in scores["categories"].items():
        goal = row["goal"] or ""
        lines.append(f"| {name} | {row['right']} | {row['of']} | {row['percent']} | {goal} | {row['exact']} |")
    lines.append(f"\nValues of other conversations in replies: {scores['values of other conversations in replies']}")
    return "\n".join(lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--mode", choices=probes.MODES, default="dev")
    parser.add_argument("--chat", type=pathlib.Path, help="lines of a user: answer them instead of the probes")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--thinking", choices=("on", "off"), default="on")
    parser.add_argument("--json", type=pathlib.Path, help="scores and every answer go into this file")
    parser.add_argument("--server", default="build/samovar", help="the program; build/samovar by default")
    parser.add_argument("--limit", type=int, help="so many probes only, chosen at random")
    parser.add_argument("--only", default="", help="probes whose category begins so: recall, facts, ...")
    parser.add_argument("--flags", default="", help="more words for the server: --flags='-ctk q8_0'")
    return parser.parse_args()


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server ends, too
    with tempfile.TemporaryDirectory(prefix="pocket-") as folder:
        server = Server(arguments.server, arguments.model, folder, arguments.thinking == "on",
                        arguments.flags.split())
        server.start()
        try:
            if arguments.chat:
                result = chat(server, arguments.chat.read_text().splitlines())
                print("\n".join(f"> {user}\n{reply}\n" for user, reply in result))
            else:
                result = score(Evaluation(server, arguments.restart), arguments.mode, arguments.limit,
                               arguments.only)
                print(table(result))
        finally:
            server.stop()
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
