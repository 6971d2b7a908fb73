"""Conversations of a wanted length. A session knows what its user has told so far, so that it can ask
for it later, ask for what was never told, and correct it."""

import dataclasses
import math

from corpus import clauses, facts, recall, school, smalltalk, tools
from corpus import written as one_by_one
from corpus.garble import garble, salad
from corpus.phrases import expand, question, statement, upper_first
from corpus.render import Conversation, Exchange
from corpus.shares import NONE
from corpus.strangers import strange

CHARACTERS_PER_TOKEN = 4.2  # of rendered conversations, with room

_SHARES = {"statement": 26, "recall": 28, "untold": 7, "correction": 4, "fact": 15, "talk": 5, "exercise": 9,
           "news": 4, "beyond": 3, "pasted": 2, "time": 1}
_GARBLED = ("statement", "correction", "recall", "recall two", "untold", "fact")
_SYSTEMS = ("You are a helpful assistant.", "You are Pocket.", "Answer briefly.", "Be kind and brief.",
            "You are a helpful assistant. Answer in one sentence.", "You are Pocket, the assistant of Samovar.",
            "You are an assistant in a chat window. Today is a good day.")
CORRECTIONS = (
    "[no|no, wait|wait|sorry|oh|actually|I was wrong|correction|I made a mistake|that was wrong|my mistake|hm, no|not quite]"
    "[, |: ]{s}", "{s}[ now|, not {old}| instead of {old}|, no longer {old}|, I was wrong before]",
    "not {old}: {s}", "[I said {old}, but|it is not {old},|forget {old},] {s}", "[change that|update|new]: {s}",
    "[since today|since yesterday|from now on|meanwhile], {s}")
_ASKED_SO = 0.3  # share of questions with a clause more, of that of statements
_BETWEEN = (" and ", ", and ", ". ", ". ", ". Also, ", ", ", "; ", ". And ")


class Session:
    def __init__(self, rng, characters, with_tool, shares=NONE):
        self.rng = rng
        self.shares = shares
        self.wanted = characters
        self.length = 0
        self.with_tool = with_tool
        self.values = {}  # attribute -> its value now
        self.due = {}  # attribute -> length of the conversation from which on it is asked for
        self.fresh = set()  # never asked for
        # How much this user has to tell; some say little.
        self.limit = rng.choice((2, 4, 6, 9, 12, 16, 24) if characters < 6000 else (4, 8, 12, 18, 24, 30, 36))

    def exchange(self):
        made = self._garbled(self._exchange())
        self.length += len(made.user) + len(made.answer) + 60
        return made

    def _exchange(self):
        if self.rng.random() < self.shares.copying:
            return Exchange(*school.copy(self.rng, most=8), "exercise")
        if self._chance(self.shares.sums):
            return Exchange(*school.sum_of_two(self.rng), "exercise")
        if self._chance(self.shares.corrections):
            made = self.correction()
            if made:
                return made
        if self._chance(self.shares.statements):
            made = self.statement()
            if made:
                return made
        if self._chance(self.shares.facts):
            return self.fact(NONE)
        while True:
            kind = self.rng.choices(list(_SHARES), list(_SHARES.values()))[0]
            if kind == "time" or (self.with_tool and self.rng.random() < 0.08):
                made = self.time()
            else:
                made = getattr(self, kind)()
            if made:
                return made

    def _chance(self, share):
        """Draws nothing where there is no share: a new one changes no stage that does without it."""
        return share > 0 and self.rng.random() < share

    def _garbled(self, made):
        if self.shares.garbled == 0 or made.category not in _GARBLED:
            return made
        if self.rng.random() < self.shares.garbled:
            user = garble(self.rng, made.user, made.answer, turn=not made.told)
        elif (self._chance(self.shares.salads) and "," not in made.answer
              and made.category != "correction"):  # its words say which of two values counts
            user = salad(self.rng, made.user, made.answer)
        elif self._chance(self.shares.strange):
            user = strange(self.rng, made.user, made.answer)
        else:
            return made
        return dataclasses.replace(made, user=user)

    # --- what the user tells ---

    def statement(self):
        rng = self.rng
        untold = [a for a in recall.ATTRIBUTES if a not in self.values]
        room = min(self.limit - len(self.values), len(untold))
        if room <= 0:
            return None
        lower = rng.random() < 0.08  # someone who never uses capitals
        told = rng.sample(untold, min(room, rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 4))))
        if rng.random() < 0.12:
            told[0] = recall.other(rng)
        claims, parts = [], []
        for attribute in told:
            value = self._learn(attribute, lower)
            part = attribute.state(rng, value, self.shares)
            parts.append((clauses.around(rng, part, value) if self._chance(self.shares.clauses) else part, value))
            claims.append(attribute.claim(value))
        text = self._told(parts)
        return Exchange(text.lower() if lower else text, recall.confirm(claims), recall.join([a.topic() for a in told]),
                        "statement", told=True)

    def _told(self, parts):
        """The statements as one message, sometimes among other sentences."""
        rng = self.rng
        text, first = parts[0]
        for part, value in parts[1:]:
            between = rng.choice(_BETWEEN)
            capital = between == ". " and not part.startswith(value)  # a value keeps its spelling
            text += between + (upper_first(part) if capital else part)
        text = _typed(rng, text, first)
        if rng.random() < 0.2:
            extra = smalltalk.prose(rng, rng.choice((1, 1, 2, 4)))
            text = f"{extra} {text}" if rng.random() < 0.5 else f"{text.rstrip('.!')}. {extra}"
        if rng.random() < 0.06:
            text = rng.choice(("Hello! ", "Hi. ", "Good morning. ", "Hey there! ")) + text
        return text

    def _learn(self, attribute, lower=False):
        rng = self.rng
        value = attribute.draw(rng, self.shares)
        self.values[attribute] = value = value.lower() if lower else value
        self.fresh.add(attribute)
        # Distances of all orders of magnitude, and as often any that this conversation has room for.
        rest = max(60.0, self.wanted - self.length)
        wait = math.exp(rng.uniform(math.log(30), math.log(rest))) if rng.random() < 0.5 else rng.uniform(0, rest)
        self.due[attribute] = self.length + wait
        return value

    def correction(self):
        if not self.values:
            return None
        rng = self.rng
        attribute = rng.choice(list(self.values))
        old, value = self.values[attribute], self._learn(attribute)
        if old == value:
            return None
        changes = CORRECTIONS
        if self._chance(self.shares.written):
            changes = one_by_one.wordings("correction", "C")
            if self.shares.requests > 0:
                changes += one_by_one.requests("correction", "C")
        text = expand(rng, rng.choice(changes), s=attribute.state(rng, value, self.shares), old=old)
        return Exchange((text if text.startswith(value) else upper_first(text)) + rng.choice("..!"), recall.confirm([attribute.claim(value)]),
                        attribute.topic(), "correction", told=True)

    # --- what the user asks for ---

    def recall(self):
        rng = self.rng
        ready = [a for a in self.values if self.due[a] <= self.length or self.length > 0.8 * self.wanted]
        if not ready:
            return None
        fresh = [a for a in ready if a in self.fresh]
        if not fresh and rng.random() < 0.6:
            return None  # or those who tell little would ask for the same all the time
        source = fresh if fresh and rng.random() < 0.75 else ready
        asked = [rng.choice(source)]
        if len(ready) > 1 and rng.random() < 0.1:
            asked.append(rng.choice([a for a in ready if a not in asked]))
        self.fresh.difference_update(asked)
        text = asked[0].ask(rng, self.shares)
        if self._chance(_ASKED_SO * self.shares.clauses):
            text = clauses.before(rng, text)
        if len(asked) == 2:
            text += rng.choice((" and ", ", and ", "? And ")) + asked[1].ask(rng, self.shares)
        answer = recall.join([a.claim(self.values[a]) for a in asked])
        return Exchange(question(rng, text, self.shares), upper_first(answer) + ".", recall.join([a.topic() for a in asked]),
                        "recall" if len(asked) == 1 else "recall two")

    def untold(self):
        """Two thirds ask for something near what was told: the dog's name where only the cat's is known."""
        rng = self.rng
        unknown = [a for a in recall.ATTRIBUTES if a not in self.values]
        kins = {a.kin for a in self.values}
        near = [a for a in unknown if a.kin in kins]
        attribute = rng.choice(near if near and rng.random() < 0.67 else unknown)
        if rng.random() < 0.12:
            attribute = recall.other(rng)
        asked = question(rng, attribute.ask(rng, self.shares), self.shares)
        return Exchange(asked, attribute.untold(), attribute.topic(), "untold")

    # --- the rest ---

    def fact(self, shares=None):
        shares = shares or self.shares
        fact = self.rng.choice(facts.FACTS)
        return Exchange(question(self.rng, fact.ask(self.rng, shares), shares), fact.answer, fact.topic, "fact")

    def exercise(self):
        return Exchange(*self.rng.choice(school.EXERCISES)(self.rng), "exercise")

    def talk(self):
        return Exchange(*smalltalk.talk(self.rng), "talk")

    def news(self):
        return Exchange(*smalltalk.news(self.rng), "talk", told=True)

    def beyond(self):
        return Exchange(*smalltalk.beyond(self.rng), "beyond")

    def pasted(self):
        return Exchange(*smalltalk.pasted(self.rng), "talk", told=True)

    def time(self):
        asked = smalltalk.time(self.rng)
        if not self.with_tool:
            return Exchange(asked, tools.NO_CLOCK, "the time", "time")
        clock = tools.clock(self.rng)
        return Exchange(asked, f"It is {clock}.", "the time", "tool", clock=clock)


def _typed(rng, text, value):
    """The statement as typed; a value that comes first keeps its spelling."""
    if text.startswith(value):
        return text + rng.choice("..!")
    return statement(rng, text)


def conversation(rng, tokens, shares=NONE):
    """A conversation of at least about so many tokens."""
    characters = tokens * CHARACTERS_PER_TOKEN
    with_tool = characters > 3000 and rng.random() < 0.08
    session = Session(rng, characters, with_tool, shares)
    made = Conversation([], tools=(tools.TOOL,) if with_tool else ())
    if rng.random() < 0.12:
        made.system = rng.choice(_SYSTEMS)
    while session.length < characters:
        made.exchanges.append(session.exchange())
    return made


def forms(rng, conversation):
    """Half of the conversations as the template writes them; in the others every answer as it is made."""
    count = len(conversation.exchanges)
    if rng.random() < 0.5:
        return conversation.exact_forms(rng.choice(("closed", "open")))
    return rng.choices(("bare", "closed", "open"), (20, 40, 40), k=count)
