"""Clauses around what a user tells or asks for: they change nothing of it, and are full of other words.

Patterns have few words beside those that matter, so that any unusual one looks like a value: "pour me a chai and I'm happy, as no
drink comes close" was noted with "close". A line of written/clauses.txt is `B|text`, before a sentence, `E|text`, behind a
statement, or `M|text`, right behind its value.
"""

import functools
import pathlib

from corpus.garble import held_out
from corpus.phrases import find_whole

_FILE = pathlib.Path(__file__).parent / "written" / "clauses.txt"


@functools.lru_cache(maxsize=None)
def all_of(place):
    """The clauses for one place: B, E or M."""
    return tuple(line[2:] for line in _FILE.read_text().splitlines() if line[0] == place)


def around(rng, text, value):
    """A statement of `value` with one or two clauses more; a probe's wording is left alone."""
    made = text
    if rng.random() < 0.2:
        made = _behind_value(made, value, rng.choice(all_of("M")))
    if rng.random() < 0.5:
        made = f"{made}, {rng.choice(all_of('E'))}"
    if made == text or rng.random() < 0.3:
        made = before(rng, made)
    return text if held_out(made) else made


def before(rng, text):
    """A statement or question behind a clause."""
    made = f"{rng.choice(all_of('B'))}, {text}"
    return text if held_out(made) else made


def _behind_value(text, value, clause):
    at = find_whole(text, value)
    if not at:
        return text
    rest = text[at.end():]
    return f"{text[:at.end()]}, {clause}{',' if rest.startswith(' ') else ''}{rest}"
