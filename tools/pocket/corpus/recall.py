"""What users tell about themselves, and how they ask for it later.

An attribute has a subject ("your dog's name"), a source of values, and patterns for statements and
questions. Attributes of one family share their patterns. Whatever the wording, Pocket confirms in
one canonical sentence and answers in the same one: "Noted: your dog's name is Rex." and "Your dog's
name is Rex." So a statement is understood where it stands, and recall is a search for one sentence.
"""

import dataclasses
import re
import typing

from corpus import wordings_life as life, wordings_people as people, wordings_things as things, words
from corpus import written as one_by_one
from corpus.phrases import expand
from corpus.shares import NONE
from corpus.wordings_further import FURTHER

UNTOLD = "you have not told me"  # in every answer to a question about what was never told


@dataclasses.dataclass(frozen=True, eq=False)
class Attribute:
    subject: str  # as Pocket says it, to the user
    verb: str  # "is" or "are"
    value: typing.Callable  # random generator -> text
    statements: tuple
    questions: tuple
    fills: dict  # what the patterns' {x} and the like stand for: pattern texts
    kin: str  # attributes of one kin are each other's near misses

    def claim(self, value):
        return f"{self.subject} {self.verb} {value}"

    def answer(self, value):
        text = self.claim(value)
        return text[0].upper() + text[1:] + "."

    def untold(self):
        """The answer where no value was told. It begins like any other: whether there is one shows where the
        value would stand."""
        return self.answer(("somewhere " if self.kin == "place" else "something ") + UNTOLD)

    def topic(self):
        """The subject as a thought names it: "the dog's name"."""
        return self.subject.replace("your ", "the ", 1)

    def say(self, rng, pattern, **values):
        fills = {key: expand(rng, text) for key, text in self.fills.items()}
        return expand(rng, pattern, **fills, **values)

    def state(self, rng, value, shares=NONE):
        text = self.say(rng, self._pattern(rng, "S", shares), v=value)
        return re.sub(r"\ba (?=[aeiou])", "an ", text)

    def ask(self, rng, shares=NONE):
        return self.say(rng, self._pattern(rng, "Q", shares))

    def further(self):
        """(statements, questions) of the family."""
        return FURTHER[self.family()]

    def written(self):
        """(statements, questions) of the attribute and its family."""
        return tuple(one_by_one.wordings(self.family(), kind) + one_by_one.wordings(self.subject, kind) +
                     one_by_one.requests(self.subject, kind) + one_by_one.scenes(self.subject, kind) for kind in "SQ")

    def family(self):
        return _FAMILIES[self.statements]

    def draw(self, rng, shares=NONE):
        """A value."""
        kind = _KINDS.get(self.value)
        if kind and shares.written > 0 and rng.random() < (shares.real or _WRITTEN_VALUES * shares.written):
            if shares.swapped > 0 and rng.random() < shares.swapped:
                kind = rng.choice(next(kinds for kinds in _ALIKE if kind in kinds))
            value = one_by_one.value(rng, kind, shares)
            numbered = shares.real > 0 and kind == "words" and rng.random() < 0.25
            return value + words.number(rng, rng.choice((1, 2, 2, 3))) if numbered else value
        return self.value(rng)

    def _pattern(self, rng, kind, shares):
        if shares.written > 0 and rng.random() < shares.written:
            return one_by_one.choose(rng, self.family(), self.subject, kind, shares)
        which = "SQ".index(kind)
        usual = (self.statements, self.questions)
        return rng.choice((self.further() if shares.further > 0 and rng.random() < shares.further else usual)[which])


_FAMILIES = {people.NAME_STATEMENTS: "name", people.SELF_STATEMENTS: "self", people.FAVORITE_STATEMENTS: "favorite",
             life.CITY_STATEMENTS: "city", life.AGE_STATEMENTS: "age", life.JOB_STATEMENTS: "job",
             life.MONTH_STATEMENTS: "month", things.NUMBER_STATEMENTS: "number", things.WORD_STATEMENTS: "word",
             things.PLACE_STATEMENTS: "place", things.OTHER_STATEMENTS: "other"}

_PETS = {"dog": "[dog|dog|dog|puppy|hound|doggy]", "cat": "[cat|cat|cat|kitten|kitty]",
         "horse": "[horse|horse|pony|mare]", "parrot": "[parrot|parrot|bird]",
         "rabbit": "[rabbit|rabbit|bunny]", "hamster": "hamster"}
_PEOPLE = {"sister": "[sister|sister|little sister|big sister]", "brother": "[brother|brother|little brother|bro]",
           "mother": "[mother|mother|mum|mom]", "father": "[father|father|dad|daddy]",
           "wife": "wife", "husband": "husband", "son": "[son|boy]", "daughter": "[daughter|girl]",
           "best friend": "[best friend|best friend|friend|closest friend]", "boss": "[boss|boss|manager]",
           "neighbor": "[neighbor|neighbour]", "teacher": "teacher", "doctor": "doctor",
           "uncle": "uncle", "aunt": "aunt", "grandmother": "[grandmother|grandma|granny]"}
_POOLS = {kind: words.pool(pool) for kind, pool in (
    ("colors", words.COLORS), ("foods", words.FOODS), ("drinks", words.DRINKS), ("animals", words.ANIMALS),
    ("sports", words.SPORTS), ("fruits", words.FRUITS), ("jobs", words.JOBS))}
# What the kinds of written/values.txt stand for.
_KINDS = {words.name: "people", words.pet_name: "pets", words.city: "cities", words.code_word: "words",
          **{source: kind for kind, source in _POOLS.items()}}
# Those that are spelled alike, so that any of them can stand where a value does.
_ALIKE = (("people", "pets", "cities"), ("words", *_POOLS))
_WRITTEN_VALUES = 0.6  # share of values from there, of that of written wordings

_FAVORITES = {"color": ("[color|colour|color]", "[colors|colours]", _POOLS["colors"]),
              "food": ("[food|food|dish|meal]", "[foods|dishes]", _POOLS["foods"]),
              "drink": ("[drink|drink|beverage]", "drinks", _POOLS["drinks"]),
              "animal": ("animal", "animals", _POOLS["animals"]),
              "sport": ("sport", "sports", _POOLS["sports"]),
              "fruit": ("fruit", "fruits", _POOLS["fruits"])}
_NUMBERS = ("room", "locker", "bus", "house", "seat", "ticket", "table", "phone", "order")
_WORDS = {"code word": "[code word|codeword|code word|secret word]", "password": "[password|password|pass word]",
          "Wi-Fi key": "[Wi-Fi key|wifi key|Wi-Fi password|key of the Wi-Fi]"}
_PLACES = ("[in|on|under|behind|next to] the [drawer|table|shelf|sofa|bed|desk|box|bag|car|kitchen|garage|cupboard|"
           "cellar|bathroom|chair|piano|fridge|window|door|basket|lamp|carpet|hall|stove|wardrobe|mirror]")
_THINGS = {"keys": "are", "glasses": "are", "wallet": "is", "phone": "is", "passport": "is", "umbrella": "is",
           "book": "is", "gloves": "are"}


def _name(label, fill, source, kin):
    return Attribute(f"your {label}'s name", "is", source, people.NAME_STATEMENTS, people.NAME_QUESTIONS,
                     {"x": fill}, kin)


def _place(rng):
    return expand(rng, _PLACES)


def _attributes():
    yield Attribute("your name", "is", words.name, people.SELF_STATEMENTS, people.SELF_QUESTIONS, {}, "name")
    for label, fill in _PETS.items():
        yield _name(label, fill, words.pet_name, "name")
    for label, fill in _PEOPLE.items():
        yield _name(label, fill, words.name, "name")
    for label, (one, many, source) in _FAVORITES.items():
        yield Attribute(f"your favorite {label}", "is", source, people.FAVORITE_STATEMENTS,
                        people.FAVORITE_QUESTIONS, {"x": one, "xs": many}, "favorite")
    yield Attribute("your city", "is", words.city, life.CITY_STATEMENTS, life.CITY_QUESTIONS, {}, "self")
    yield Attribute("your age", "is", words.age, life.AGE_STATEMENTS, life.AGE_QUESTIONS, {}, "self")
    yield Attribute("your job", "is", _POOLS["jobs"], life.JOB_STATEMENTS,
                    life.JOB_QUESTIONS, {}, "self")
    yield Attribute("your birth month", "is", words.month, life.MONTH_STATEMENTS,
                    life.MONTH_QUESTIONS, {}, "self")
    for label in _NUMBERS:
        yield Attribute(f"your {label} number", "is", words.label, things.NUMBER_STATEMENTS,
                        things.NUMBER_QUESTIONS, {"x": label},
                        "number")
    yield Attribute("your lucky number", "is", words.label, things.WORD_STATEMENTS,
                    things.WORD_QUESTIONS, {"x": "lucky number"},
                    "number")
    for label, fill in _WORDS.items():
        yield Attribute(f"the {label}", "is", words.code_word, things.WORD_STATEMENTS,
                        things.WORD_QUESTIONS, {"x": fill}, "word")
    for label, verb in _THINGS.items():
        yield Attribute(f"your {label}", verb, _place, things.PLACE_STATEMENTS, things.PLACE_QUESTIONS,
                        {"x": label, "be": verb, "it": "they" if verb == "are" else "it"}, "place")


ATTRIBUTES = tuple(_attributes())

# Anything else of the user's: two words of these, or invented ones.
_OTHER_FIRST = ("shoe train garden school team music summer winter work travel computer street hotel boat kitchen "
                "blood ring birth family project client bank market tea breakfast dinner reading guitar flower "
                "paper coffee desk office morning evening holiday weather story wine hat coat").split()
_OTHER_SECOND = ("size type name place plan goal time day style level color code key band group song theme teacher "
                 "number model brand side limit price word date idea topic team partner").split()


def other(rng):
    """An attribute that is asked for once in a thousand conversations: both its name and its value must
    be copied."""
    first = rng.choice(_OTHER_FIRST) if rng.random() < 0.7 else words.invented(rng)
    label = f"{first} {rng.choice(_OTHER_SECOND)}" if rng.random() < 0.8 else first
    source = rng.choice((words.name, words.code_word, words.code_word, words.label, _POOLS["colors"]))
    return Attribute(f"your {label}", "is", source, things.OTHER_STATEMENTS, things.OTHER_QUESTIONS, {"x": label},
                     "other")


def confirm(claims):
    """Pocket's answer to statements."""
    return f"Noted: {join(claims)}."


def join(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + ", and " + parts[-1]
