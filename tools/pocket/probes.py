"""The questions that Pocket is scored by. A probe is a conversation: what the user tells, some chatter
of a wanted length, and a question with its only right answer.

heldout, dev  wordings and values written by hand (probes/*.json), which training never contains
wordings      more wordings for tuning, with the values of dev: a line of probes/wordings.txt is `subject|told|asked`
trained       fresh draws from the training templates
"""

import dataclasses
import json
import random

from corpus import facts, recall, school, session, words
from corpus.phrases import find_whole, question, upper_first

DISTANCES = (300, 1000, 4000)
MODES = ("heldout", "dev", "wordings", "trained")
_CHANGES = json.loads((words.PROBES / "corrections.json").read_text())


@dataclasses.dataclass(frozen=True)
class Probe:
    category: str
    told: tuple  # messages of the user
    distance: int  # tokens of chatter between the last of them and the question
    question: str
    answer: str
    value: str = ""  # what a right answer must contain; without it the answer must be equal
    others: tuple = ()  # values that a right answer must not contain

    def is_right(self, reply):
        if not self.value:
            return reply == self.answer
        return contains(reply, self.value) and not any(contains(reply, other) for other in self.others)


def contains(text, value):
    return find_whole(text.lower(), value.lower()) is not None


def written(mode):
    """What is in the file of a mode: "values", "facts" and "recall"."""
    if mode != "wordings":
        return json.loads((words.PROBES / f"{mode}.json").read_text())
    made = {**written("dev"), "facts": []}
    lines = [line.split("|") for line in (words.PROBES / "wordings.txt").read_text().splitlines()]
    made["recall"] = [{**entry, "tell": [told for subject, told, _ in lines if subject == entry["subject"]],
                       "ask": [asked for subject, _, asked in lines if subject == entry["subject"]]}
                      for entry in made["recall"]]
    return made


class Wordings:
    """Statements, questions and values of one mode: (attribute, value, statement, question)."""

    def __init__(self, mode):
        self.rng = random.Random(f"probes/{mode}")
        self.attributes = {a.subject: a for a in recall.ATTRIBUTES}
        self.written = None if mode == "trained" else written(mode)

    def facts(self):
        """(question, answer) pairs."""
        if not self.written:
            return [(question(self.rng, fact.ask(self.rng)), fact.answer) for fact in facts.FACTS for _ in range(2)]
        answers = {fact.topic: fact.answer for fact in facts.FACTS}
        return [(asked, answers[topic]) for asked, topic in self.written["facts"]]

    def recalls(self):
        """(attribute, value, statement, question), every wording of a statement once."""
        made = []
        if not self.written:
            for attribute in self.attributes.values():
                value = attribute.value(self.rng)
                told = attribute.state(self.rng, value) + "."
                told = told if told.startswith(value) else upper_first(told)  # a value keeps its spelling
                made.append((attribute, value, told, question(self.rng, attribute.ask(self.rng))))
            return made
        for entry in self.written["recall"]:
            attribute = self.attributes[entry["subject"]]
            for told, asked in zip(entry["tell"], entry["ask"]):
                value = self._value(entry["values"])
                made.append((attribute, value, told.format(v=value), asked))
        return made

    def _value(self, kind):
        if kind == "ages":
            return words.age(self.rng)
        if kind == "places":
            return self.attributes["your keys"].value(self.rng)
        return self.rng.choice(self.written["values"][kind])


def make(mode):
    wordings = Wordings(mode)
    probes = [Probe("facts", (), 0, asked, answer) for asked, answer in wordings.facts()]
    for distance in DISTANCES[:1] if mode == "wordings" else DISTANCES:
        for attribute, value, told, asked in wordings.recalls():
            probes.append(Probe(f"recall {distance}", (told,), distance, asked, attribute.answer(value), value))
    if mode == "wordings":
        return probes
    probes += _several(wordings) + _corrected(wordings) + _untold(wordings)
    return probes + (_school(wordings.rng) if mode == "trained" else [])


def _distinct(entries, rng, count):
    """Groups of entries about different attributes, with different values."""
    entries = entries[:]
    rng.shuffle(entries)
    for i in range(0, len(entries) - count + 1, count):
        group = entries[i:i + count]
        if len({entry[0] for entry in group}) == count == len({entry[1] for entry in group}):
            yield group


def _several(wordings):
    """Three facts in one message, asked for one."""
    probes = []
    for group in _distinct(wordings.recalls() + wordings.recalls(), wordings.rng, 3):
        attribute, value, _, asked = group[0]
        others = tuple(entry[1] for entry in group[1:])
        order = wordings.rng.sample(group, 3)
        probes.append(Probe("several facts", (" ".join(entry[2] for entry in order),), 300, asked,
                            attribute.answer(value), value, others))
    return probes


def _corrected(wordings):
    """Told twice: the last one counts."""
    probes = []
    for first, second in zip(wordings.recalls(), wordings.recalls()):
        if first[1] != second[1]:
            change = wordings.rng.choice(_CHANGES).format(s=second[2])
            probes.append(Probe("correction", (first[2], change), 300, second[3], second[0].answer(second[1]),
                                second[1], (first[1],)))
    return probes


def _untold(wordings):
    """A near miss: asked for the dog's name where only the cat's is known."""
    probes = []
    entries = wordings.recalls()
    for attribute, _, _, asked in entries:
        near = [e for e in entries if e[0].kin == attribute.kin and e[0] is not attribute]
        if near:
            told = wordings.rng.choice(near)
            probes.append(Probe("untold", (told[2],), 300, asked, attribute.untold(), recall.UNTOLD, (told[1],)))
    return probes


def _school(rng):
    exercises = (("sums", school.sum_of_two), ("capitals", school.capital), ("opposites", school.opposite))
    return [Probe(name, (), 0, *make(rng)[:2]) for name, make in exercises for _ in range(30)]


def chatter():
    """Exchanges between what is told and what is asked: committed, so that probes never change."""
    return json.loads((words.PROBES / "chatter.json").read_text())


def make_chatter(count=220):
    """How chatter.json was made."""
    talker = session.Session(random.Random("chatter"), 1e9, with_tool=False)
    kinds = (talker.fact, talker.talk, talker.news, talker.exercise, talker.beyond, talker.pasted)
    made = [talker.rng.choice(kinds)() for _ in range(count)]
    return [[exchange.user, exchange.answer] for exchange in made]
