"""Messages as no pattern makes them: words are lost, added, exchanged or moved.

Patterns are finite, and a small model learns them by heart; people's wordings are none of them. A
garbled message can be understood only by the few words that carry its meaning, which is how an unseen
wording must be understood, too. The words of the answer stay as they are and where they are, one
beside the other, so that values and subjects survive.
"""

import functools
import json
import re

from corpus import words
from corpus.phrases import find_whole

_FILLERS = """really just then maybe here actually exactly again so well also please there now still even quite rather
today indeed possibly always simply truly though perhaps anyway somehow yes no right okay really""".split()
_SMALL = """is are was were be been being do does did has have had can could would should may might will shall must
the a an this that these those it of in on at for with by from about to into as so than and or but if when where
which what how""".split()
SMALL = frozenset(_SMALL)
_ANY = _FILLERS + _SMALL + """never say take gets go went come see look like love hate think feel need want make made give
given keep kept put sit stand lie walk run sleep work play read write talk speak call ask answer live stay leave wait
morning evening night day week year time way thing place people man woman child friend world life house door table food
good bad big small old young new long happy sad nice best better more less much many all none every each some any other
before after during between among without against until because while since both either only own same my your our his her
their me you us them I we they he she name number word""".split()
_LOSE_SMALL, _ADD_ANY = 0.35, 0.18
_LOSE, _ADD, _EXCHANGE, _SWAP, _TURN = 0.1, 0.07, 0.12, 0.06, 0.12


def stem(word):
    """The word without case, marks and a final 's."""
    return re.sub(r"\W|'s$", "", word.lower())


def garble(rng, text, answer, turn):
    """The text in other words; `turn`: its beginning may also come last, as in questions."""
    kept = {stem(word) for word in answer.split()}
    parts = [(word, stem(word) in kept) for word in text.split(" ")]
    made, before = [], False  # before: the last word was kept
    for word, keep in parts:
        if not (keep and before) and rng.random() < _ADD:
            made.append(rng.choice(_FILLERS))
        before = keep
        if not keep:
            if rng.random() < _LOSE:
                continue
            if word.lower() in SMALL and rng.random() < _EXCHANGE:
                word = rng.choice(_SMALL)
            elif made and rng.random() < _SWAP and stem(made[-1]) not in kept:
                word, made[-1] = made[-1], word
        made.append(word)
    if turn and len(made) > 3 and rng.random() < _TURN:
        cut = rng.randrange(1, len(made) - 1)
        made = made[cut:] + made[:cut]
    garbled = " ".join(made)
    return text if not garbled or held_out(garbled) else garbled


def salad(rng, text, answer):
    """Little more than the words that matter, among words that do not, in any order; the value anywhere."""
    value = re.split(r" (?:is|are) ", answer.rstrip("."), maxsplit=1)[-1]
    told = find_whole(text, value) if answer.startswith("Noted: ") else None
    rest = f"{text[:told.start()]} {text[told.end():]}" if told else text
    made = []
    for word in rest.split():
        if word.lower() in SMALL and rng.random() < _LOSE_SMALL:
            continue
        while rng.random() < _ADD_ANY:
            made.append(rng.choice(_ANY))
        made.append(word)
    if len(made) > 3 and rng.random() < 0.3:
        cut = rng.randrange(1, len(made) - 1)
        made = made[cut:] + made[:cut]
    if told:
        made.insert(rng.randint(0, len(made)), value)
    tossed = " ".join(made)
    return text if not tossed or held_out(tossed) else tossed


def held_out(text):
    """Whether a probe has this wording: training never does."""
    return _held_out().fullmatch(text.lower().strip(" .?!")) is not None


@functools.lru_cache(maxsize=None)
def _held_out():
    wordings = []
    for name in ("heldout", "dev"):
        written = json.loads((words.PROBES / f"{name}.json").read_text())
        wordings += [question for question, _ in written["facts"]]
        wordings += [wording for entry in written["recall"] for wording in entry["tell"] + entry["ask"]]
    wordings += json.loads((words.PROBES / "corrections.json").read_text())
    wordings = {re.escape(text.lower().strip(" .?!")).replace(r"\{v\}", ".{1,40}").replace(r"\{s\}", ".+")
                for text in wordings}
    return re.compile("|".join(sorted(wordings)), re.S)
