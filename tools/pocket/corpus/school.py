"""Small exercises: sums, capitals, opposites, counting, copying. Each gives (question, answer, topic)."""

from corpus import words
from corpus.phrases import expand, question, statement, upper_first

CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid", "Portugal": "Lisbon",
    "Austria": "Vienna", "Greece": "Athens", "Poland": "Warsaw", "Russia": "Moscow", "England": "London",
    "Ireland": "Dublin", "Belgium": "Brussels", "Denmark": "Copenhagen", "Norway": "Oslo", "Sweden": "Stockholm",
    "Finland": "Helsinki", "Hungary": "Budapest", "Romania": "Bucharest", "Bulgaria": "Sofia", "Turkey": "Ankara",
    "Egypt": "Cairo", "Kenya": "Nairobi", "Japan": "Tokyo", "China": "Beijing", "India": "Delhi", "Iran": "Tehran",
    "Iraq": "Baghdad", "Cuba": "Havana", "Canada": "Ottawa", "Mexico": "Mexico City", "Peru": "Lima",
    "Chile": "Santiago", "Argentina": "Buenos Aires", "Brazil": "Brasilia", "Australia": "Canberra",
    "Switzerland": "Bern", "Ukraine": "Kyiv", "Iceland": "Reykjavik", "Croatia": "Zagreb", "Serbia": "Belgrade",
    "Thailand": "Bangkok", "Vietnam": "Hanoi",
}
_CAPITAL_PATTERNS = (
    "what is the capital of {x}", "[what's|whats] the capital of {x}", "which city is the capital of {x}",
    "[tell me|name|say] the capital of {x}", "capital of {x}", "the capital of {x}",
    "do you know the capital of {x}", "what is {x}'s capital", "what city is {x}'s capital",
    "[can|could] you [tell me|name] the capital of {x}", "of {x}, what is the capital", "{x}'s capital",
    "[which|what] capital does {x} have", "from which city is {x} governed", "I need the capital of {x}",
    "how is the capital of {x} called", "what is the capital city of {x}", "name {x}'s capital city")
OPPOSITES = dict(pair.split("-") for pair in """hot-cold cold-hot big-small small-big high-low low-high new-old old-new
day-night night-day up-down down-up left-right right-left good-bad bad-good fast-slow slow-fast early-late late-early
open-closed closed-open full-empty empty-full light-dark dark-light rich-poor poor-rich strong-weak weak-strong wet-dry
dry-wet hard-soft soft-hard clean-dirty dirty-clean loud-quiet quiet-loud happy-sad sad-happy long-short short-long
thick-thin thin-thick near-far far-near""".split())
_OPPOSITE_PATTERNS = (
    "what is the opposite of {x}", "[what's|whats] the opposite of {x}", "the opposite of {x}", "opposite of {x}",
    "[tell me|name|say|give me] the opposite of {x}", "do you know the opposite of {x}", "what is not {x} but",
    "which word is the opposite of {x}", "what is opposite to {x}", "[can|could] you [tell me|name] the opposite of {x}",
    "[which|what] word means the opposite of {x}", "if something is not {x}, what is it", "the contrary of {x}",
    "what is the contrary of {x}", "{x} is the opposite of what", "turn {x} into its opposite",
    "what is the reverse of {x}")
_SUM_PATTERNS = (
    "what is {a} {plus} {b}", "[what's|whats] {a} {plus} {b}", "{a} {plus} {b}", "how much is {a} {plus} {b}",
    "[calculate|compute|solve|add up|work out] {a} {plus} {b}", "[can|could] you [tell me|compute|calculate] {a} {plus} {b}",
    "[tell me|say] what {a} {plus} {b} is", "{a} {plus} {b} is what", "{a} {plus} {b} =", "what does {a} {plus} {b} make",
    "what do you get for {a} {plus} {b}", "the result of {a} {plus} {b}", "give me {a} {plus} {b}",
    "what is the result of {a} {plus} {b}", "do you know {a} {plus} {b}")
_COPY_PATTERNS = (
    "[say|repeat|write|echo|type|print] {v}", "[say|repeat|write] [after me|this|the following|the word]: {v}",
    "[please|can you|could you] [say|repeat|write] {v}", "copy this: {v}", "repeat the words {v}",
    "say the words {v}", "repeat exactly: {v}")
_COUNT_PATTERNS = ("count [from {a} |up |on |]to {b}", "[please|can you|could you] count from {a} to {b}",
                   "[list|say|write] the numbers from {a} to {b}", "which numbers lie from {a} to {b}")


def capital(rng):
    country = rng.choice(list(CAPITALS))
    asked = question(rng, expand(rng, rng.choice(_CAPITAL_PATTERNS), x=country))
    return asked, f"The capital of {country} is {CAPITALS[country]}.", "a capital"


def opposite(rng):
    word = rng.choice(list(OPPOSITES))
    asked = question(rng, expand(rng, rng.choice(_OPPOSITE_PATTERNS), x=word))
    return asked, f"The opposite of {word} is {OPPOSITES[word]}.", "an opposite"


def sum_of_two(rng):
    a, b = rng.randrange(0, 21), rng.randrange(0, 21)
    if rng.random() < 0.35:
        a, b, result, sign, plus = a + b, a, b, "-", rng.choice(("-", "-", "minus"))
    else:
        result, sign, plus = a + b, "+", rng.choice(("+", "+", "plus", "and"))
    asked = question(rng, expand(rng, rng.choice(_SUM_PATTERNS), a=a, b=b, plus=plus))
    return asked, f"{a} {sign} {b} = {result}.", "a sum"


def copy(rng, most=3):
    text = " ".join(words.code_word(rng) for _ in range(rng.randrange(1, most + 1)))
    asked = expand(rng, rng.choice(_COPY_PATTERNS), v=text)
    return statement(rng, asked) if rng.random() < 0.2 else upper_first(asked), text + ".", "a copy"


def count(rng):
    begin = rng.choice((1, 1, 1, rng.randrange(2, 12)))
    end = begin + rng.randrange(2, 10)
    pattern = rng.choice(_COUNT_PATTERNS) if begin > 1 else "[count|please count|can you count] to {b}"
    if begin > 1 and not pattern.count("{a}"):
        pattern = "count from {a} to {b}"
    asked = expand(rng, pattern, a=begin, b=end)
    if str(begin) not in asked:
        begin = 1
    return upper_first(asked) + ".", ", ".join(str(n) for n in range(begin, end + 1)) + ".", "a count"


EXERCISES = (sum_of_two, sum_of_two, capital, capital, opposite, opposite, copy, count)
