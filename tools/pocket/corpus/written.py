"""Wordings written one by one rather than composed, and real values: for the later stages (written/*.txt).

A line of wordings is `about|S, Q or C|pattern`: S tells, Q asks, C corrects. It is about a family of attributes
("name"), one attribute by its subject ("your dog's name") or a fact by its topic. {v}, {x} and the like as in
wordings_people.py; in a correction {s} stands for a statement and {old} for the value before. A line of values.txt
is `kind|value`. Whoever wrote them had not seen the probes; wordings that were a probe's, too, have been taken out
(tests/test_corpus.py), and values of the probes as well.

requests.txt, for the last stages, tells what is asked for from what is told where both are commands: "name my
cat for me", "write down Rex for my cat". scenes.txt, for the very last, has what matters among many other words; with it come the
values of values_further.txt.
"""

import functools
import pathlib

from corpus import words
from corpus.shares import NONE

_FOLDER = pathlib.Path(__file__).parent / "written"
_OWN = 0.5  # share of the wordings of just this attribute, where there are any, against its family's


def _read(*names):
    made = {}
    for name in names:
        for line in (_FOLDER / f"{name}.txt").read_text().splitlines():
            about, kind, pattern = line.split("|", 2)
            made.setdefault((about, kind), []).append(pattern)
    return {key: tuple(patterns) for key, patterns in made.items()}


_WRITTEN = _read("corrections", "facts", "questions", "statements")
_REQUESTS = _read("requests")
_SCENES = _read("scenes")


def wordings(about, kind):
    return _WRITTEN.get((about, kind), ())


def requests(about, kind):
    return _REQUESTS.get((about, kind), ())


def scenes(about, kind):
    return _SCENES.get((about, kind), ())


def choose(rng, family, subject, kind, shares=NONE):
    """Of scenes.txt and requests.txt by their shares, where they have wordings for the subject."""
    for share, wordings_of in ((shares.scenes, scenes), (shares.requests, requests)):
        if share > 0 and wordings_of(subject, kind) and rng.random() < share:
            return rng.choice(wordings_of(subject, kind))
    own = wordings(subject, kind)
    return rng.choice(own if own and rng.random() < _OWN else wordings(family, kind))


@functools.lru_cache(maxsize=None)
def _values(*names):
    made = {}
    for name in names:
        for line in (_FOLDER / f"{name}.txt").read_text().splitlines():
            kind, value = line.split("|")
            if value.lower() not in words.banned():
                made.setdefault(kind, []).append(value)
    return made


def value(rng, kind, shares=NONE):
    names = ("values", "values_further") if shares.scenes > 0 else ("values",)
    return rng.choice(_values(*names)[kind])
