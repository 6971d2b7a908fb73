"""Patterns: "[my|our] dog[ is|'s] called {v}" stands for four sentences.

[a|b|] picks one of its parts, also nested, and a part may be empty; {name} is a value of the caller.
"""

import functools
import re

from corpus.shares import NONE

_TOKEN = re.compile(r"[\[\]|]|[^\[\]|]+")

OPENERS = ("hey, |hi, |hello, |ok, |okay, |so, |well, |by the way, |also, |one more thing: |quick question: |"
           "right, |and |now |listen, |alright, |hm, |just wondering: |oh, |let me see, |wait, |Pocket, |a question: |"
           "one question: |next question: |let me ask: |sorry, |excuse me, |back to me: |before I forget: |then |but |"
           "my friend, |say, |look, |well then, |for a test: |I am curious: |maybe you know: |and now ").split("|")
STATEMENT_OPENERS = ("hey, |hi, |ok, |okay, |so, |well, |by the way, |also, |one more thing: |you should know: |"
                     "oh, |and |for your information: |note this: |please remember: |remember that |keep in mind that |"
                     "fyi, |let me tell you: |just so you know, |remember this: |please note that |I want you to know: |it is true that |"
                     "here is a fact: |something about me: |for later: |for your notes: |I should mention that |I think I said it: |"
                     "my news: |to begin with, |first of all, |another thing: |well then, |you may like to know that |"
                     "store this: |do not forget that |never forget: |know that |as you may know, |important: |"
                     "let us start: |and then, |in case you need it: |as I said, |to tell the truth, ").split("|")
QUESTION_CLOSERS = ("|||| please| again| now|, please|, do you know|, can you tell me|, if you remember|, Pocket|, my friend|"
                    ", I forgot|, thanks| today| once more|, tell me|, I wonder| exactly").split("|")
STATEMENT_CLOSERS = ("||||, by the way|, just so you know|, remember that|, please remember it| :)|, ok|, got it|, you know|, as I said|"
                     ", so remember it|, and that is true|, I think|, do not forget it|, please note|, Pocket|, for your notes").split("|")


@functools.lru_cache(maxsize=None)
def _parse(pattern):
    """Nested tuples: a string, or ("any", options) where every option is a tuple of such items."""
    tokens = _TOKEN.findall(pattern)
    position = 0

    def sequence():
        nonlocal position
        options, items = [], []
        while position < len(tokens):
            token = tokens[position]
            position += 1
            if token == "[":
                items.append(("any", sequence()))
            elif token == "|":
                options.append(tuple(items))
                items = []
            elif token == "]":
                break
            else:
                items.append(token)
        return (*options, tuple(items))

    return sequence()


def _pick(rng, options):
    items = options[0] if len(options) == 1 else rng.choice(options)
    return "".join(item if isinstance(item, str) else _pick(rng, item[1]) for item in items)


def expand(rng, pattern, **values):
    text = _pick(rng, _parse(pattern))
    return text.format(**values) if values else text


def regex(pattern, **values):
    """A regular expression of all that `expand` can make; `values` are regular expressions."""
    parts = []
    for part in re.split(r"([\[\]|])|(\{\w+\})", pattern):
        if part in ("[", "]", "|"):
            parts.append({"[": "(?:", "]": ")", "|": "|"}[part])
        elif part and part[0] == "{":
            parts.append(f"(?:{values[part[1:-1]]})")
        else:
            parts.append(re.escape(part or ""))
    return "".join(parts)


def find_whole(text, value):
    """Where the value stands in the text, not as a part of another word; None if nowhere."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)


def upper_first(text):
    return text[:1].upper() + text[1:]


def _dress(rng, text, openers, closers, mark, slips):
    """Someone's way of typing: an opener, an afterthought, lower case, no mark at the end, a slip."""
    if rng.random() < 0.25:
        text = rng.choice(openers) + text
    text += rng.choice(closers) if rng.random() < 0.3 else ""
    draw = rng.random()
    text = text if draw < 0.25 else upper_first(text)
    if rng.random() < slips and len(text) > 12:
        at = rng.randrange(2, len(text) - 2)
        if text[at].islower() and text[at - 1].islower():
            text = text[:at] + text[at + 1:]
    return text + (mark if rng.random() < 0.8 else "")


_COMMANDS = frozenset("""tell say give name call repeat remind write list show let spell read state recite type
mention recall remember fill finish complete find look think help please kindly guess hand bring fetch pick print put
reveal share confirm check try answer explain describe teach quote pass supply provide just now go come i introduce
don't greet prove lead report whisper unlock turn quick translate spill dig search display sing
draw count point guide walk use""".split())


_ASKING = re.compile(r"\b(what|which|who|whom|whose|where|when|how|any)\b|(^|, )(do|does|did|is|are|was|can|could|would)\b", re.I)


def _is_command(text):
    return text.split(" ", 1)[0].strip(",.:;!").lower() in _COMMANDS


def _is_need(text):
    """"I want to hear which one it was", "the ticket, please": asks, and is no question."""
    return text.startswith("I ") or not _ASKING.search(text)


def question(rng, text, shares=NONE):
    """Of those questions that are commands or sentences the share `requests` ends as such."""
    if rng.random() < 0.08:
        text = text.lower()
    mark = "?"
    if shares.requests > 0:
        request = _is_command(text) or shares.scenes > 0 and _is_need(text)
        if rng.random() < (shares.requests if request else 0.1 * shares.requests):
            mark = rng.choice("...!")
    return _dress(rng, text, OPENERS, QUESTION_CLOSERS, mark, slips=0.06)


def statement(rng, text):
    """Without slips: they might hit the value that is to be remembered."""
    return _dress(rng, text, STATEMENT_OPENERS, STATEMENT_CLOSERS, rng.choice("...!"), slips=0)
