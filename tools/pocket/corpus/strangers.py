"""Messages in which a word of no importance is another one.

In a message of people most words are none that a pattern has, and only by where it stands can the value be told from them: "among all
living creatures the heron is dearest to me" was noted with "dearest". Here any words stand where those of the patterns stood, and
are no values, either.
"""

import collections
import functools
import re

from corpus import clauses, recall, words, written
from corpus.garble import SMALL, held_out, stem

_EXCHANGE = 0.15  # of the words of no importance
_ALTERED = 0.3  # of the strangers
_TYPICAL, _OFTEN = 0.5, 3  # a word that is so often about one subject means it


def strange(rng, text, answer):
    """The text with other words where none of the answer's and no small ones are."""
    kept = {stem(word) for word in answer.split()}
    made = []
    for word in text.split(" "):
        idle = word.isalpha() and word.islower() and not (word in SMALL or word in kept or word in meaning())
        if idle and rng.random() < _EXCHANGE:
            word = rng.choice(strangers())
            word = words.altered(rng, word) if rng.random() < _ALTERED else word
        made.append(word)
    made = " ".join(made)
    return text if held_out(made) else made


@functools.lru_cache(maxsize=None)
def _counted():
    """{word: {subject: how often it is there}}, of scenes.txt."""
    made = {}
    for attribute in recall.ATTRIBUTES:
        for text in written.scenes(attribute.subject, "S") + written.scenes(attribute.subject, "Q"):
            for word in re.findall(r"[a-z]{3,}", text):
                made.setdefault(word, collections.Counter())[attribute.subject] += 1
    return made


@functools.lru_cache(maxsize=None)
def meaning():
    """The words that say what a message is about."""
    subjects = {stem(word) for attribute in recall.ATTRIBUTES for word in attribute.subject.split()}
    return frozenset(subjects | {
        word for word, counts in _counted().items()
        if counts.total() >= _OFTEN and max(counts.values()) >= _TYPICAL * counts.total()})


@functools.lru_cache(maxsize=None)
def strangers():
    """Words that may stand anywhere."""
    around = {word for place in "BEM" for clause in clauses.all_of(place) for word in re.findall(r"[a-z]{3,}", clause)}
    return tuple(sorted((around | set(_counted())) - meaning() - SMALL - words.banned()))
