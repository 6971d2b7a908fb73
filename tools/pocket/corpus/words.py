"""Values that users tell: names, cities, colors, numbers, code words.

Most of a value's tokens must be copied, not known: every kind mixes common words with invented ones.
What the held-out and development probes use is never produced (`banned`).
"""

import functools
import json
import pathlib

PROBES = pathlib.Path(__file__).parents[1] / "probes"

FIRST_NAMES = """Ada Adam Agnes Alan Albert Alice Amy Andrew Anna Arthur Ben Bella Boris Brian Carl Carol Cecil
Chloe Clara Daniel David Diana Dora Edgar Edith Edward Ella Emil Emily Emma Eric Erik Eva Felix Finn Flora Frank
Fred Gerda Grace Greta Hannah Hans Harry Helen Henry Hugo Ida Ines Iris Ivan Jack James Jane Jim Joan John Jonas
Julia Karl Kate Kim Lars Laura Lea Leo Lily Linda Lisa Louis Lucy Lukas Mara Maria Mark Martin Mary Max Mia Mike
Nadia Nancy Nick Nina Noah Nora Olga Oliver Omar Oscar Otto Paul Paula Peter Petra Philip Rachel Ralf Rita Robert
Rosa Ruth Sam Sara Simon Sofia Stella Steve Susan Theo Thomas Tina Tom Ursula Vera Victor Walter Wendy Will Yara
Yusuf Zara Zoe Ahmed Amir Chen Diego Fatima Haruto Ingrid Jamal Keiko Kofi Leila Mei Mateo Nadine Pablo Priya Raj
Sana Sven Tariq Wei""".split()
PET_NAMES = """Bello Benji Biscuit Blacky Bonnie Bounce Buddy Buster Caesar Charlie Coco Cookie Daisy Dash Dusty Fido
Fluffy Ginger Goldie Hector Honey Jasper Kitty Lady Lucky Lulu Maggie Milo Minka Mittens Molly Muffin Nala Nero
Oreo Patch Peanut Penny Pepper Pluto Prince Rocky Rover Rusty Sammy Scout Shadow Simba Smokey Snoopy Snowy Socks
Sparky Spot Storm Sunny Tiger Toby Toffee Trixie Waldi Whiskers Winnie Ziggy""".split()
CITIES = """Amsterdam Athens Berlin Bonn Boston Bristol Brussels Cairo Chicago Cologne Dallas Delhi Denver Dublin
Florence Geneva Glasgow Hamburg Houston Istanbul Kyoto Leeds Lima Lisbon London Lyon Madrid Miami Milan Moscow Mumbai
Munich Naples Nice Osaka Paris Porto Prague Riga Rome Seoul Sofia Sydney Tokyo Toronto Turin Utrecht Venice Vienna
Warsaw Zurich""".split()
COLORS = """red blue green yellow orange purple pink brown black white gray silver gold violet crimson scarlet olive navy
beige ivory amber lime cyan lavender coral khaki rose copper bronze emerald""".split()
FOODS = """pizza pasta rice soup bread cheese salad curry noodles sushi pancakes potatoes beans tacos lasagna porridge
risotto dumplings stew fish chicken omelette toast yogurt burgers waffles goulash lentils mushrooms spinach""".split()
DRINKS = """tea coffee water milk juice lemonade cocoa cider beer wine cola soda espresso smoothie buttermilk ginger
mint broth""".split()
ANIMALS = """cat dog horse cow sheep goat pig fox wolf bear lion tiger elephant monkey rabbit mouse owl eagle crow duck
goose swan frog snake turtle whale dolphin shark crab bee ant spider deer moose camel zebra panda penguin seal
squirrel""".split()
SPORTS = """football tennis golf chess swimming running cycling rowing sailing hockey boxing judo skiing skating surfing
climbing hiking dancing volleyball basketball baseball cricket rugby darts fencing archery yoga""".split()
FRUITS = """apple pear plum cherry peach banana grape lemon melon mango fig kiwi apricot orange strawberry raspberry
blueberry pineapple""".split()
JOBS = """teacher doctor nurse baker farmer pilot painter singer writer lawyer cook driver builder plumber dentist
engineer sailor soldier tailor waiter judge dancer actor gardener butcher carpenter fisherman librarian programmer
photographer mechanic student chemist clerk barber postman""".split()
MONTHS = """January February March April May June July August September October November December""".split()
CODE_WORDS = """apple river stone window garden silver candle button forest marble pepper rocket thunder velvet winter
anchor basket bridge castle cloud copper desert dragon feather hammer harbor island ladder lantern meadow mirror
needle ocean orchid paper pencil pillow planet rabbit ribbon saddle shadow summer ticket tunnel turtle violin walnut
willow""".split()

_ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl dr fl fr gr kl kr pl pr sh sl st th tr".split()
_VOWELS = "a e i o u a e i o u ai ee ia io ou y".split()
_CODAS = ["", "", "", "", "n", "r", "l", "s", "x", "m", "t", "k", "th", "nd", "rt", "ck", "ra", "no"]


@functools.lru_cache(maxsize=None)
def banned():
    """Values of the probes that training must not contain, in lower case; numbers as digits."""
    values = set()
    for name in ("heldout", "dev"):
        for kind in json.loads((PROBES / f"{name}.json").read_text())["values"].values():
            values.update(str(value).lower() for value in kind)
    return frozenset(values)


@functools.lru_cache(maxsize=None)
def _allowed(pool):
    return tuple(word for word in pool if word.lower() not in banned())


def known(rng, pool):
    """One of the pool's words that no probe uses."""
    return rng.choice(_allowed(tuple(pool)))


def invented(rng, syllables=None):
    """A word that means nothing: bilo, krenda, stoux."""
    while True:
        count = syllables or rng.choice((1, 2, 2, 2, 3))
        word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(count))
        word += rng.choice(_CODAS)
        if rng.random() < 0.2:
            word = rng.choice("aeiou") + word
        if len(word) > 2 and word not in banned():
            return word


def altered(rng, word):
    """A word with one letter changed, dropped or added: the token borders of real words, new insides."""
    while True:
        at = rng.randrange(1, len(word))
        letter = rng.choice("abcdefghiklmnoprstuvwyz")
        changed = rng.choice((word[:at] + letter + word[at + 1:], word[:at] + word[at + 1:],
                              word[:at] + letter + word[at:]))
        if len(changed) > 2 and changed.lower() not in banned():
            return changed


def _mixed(rng, pool, common):
    """A pool's word with the probability `common`, else an altered or an invented one."""
    draw = rng.random()
    if draw < common:
        return known(rng, pool)
    if draw < common + 0.6 * (1 - common):
        return altered(rng, known(rng, pool))
    return invented(rng)


def name(rng):
    return _mixed(rng, FIRST_NAMES, 0.4).capitalize()


def pet_name(rng):
    return _mixed(rng, PET_NAMES if rng.random() < 0.7 else FIRST_NAMES, 0.35).capitalize()


def city(rng):
    return _mixed(rng, CITIES, 0.5).capitalize()


def code_word(rng):
    word = _mixed(rng, CODE_WORDS, 0.35)
    draw = rng.random()
    if draw < 0.25:
        return f"{word}{number(rng, rng.choice((1, 2, 3)))}"
    if draw < 0.35:
        return f"{word}-{_mixed(rng, CODE_WORDS, 0.5)}"
    return word


def number(rng, digits):
    while True:
        text = str(rng.randrange(10 ** (digits - 1), 10 ** digits))
        if text not in banned():
            return text


def label(rng):
    """The number of a room, a bus, a ticket."""
    return number(rng, rng.choice((1, 2, 2, 3, 3, 4, 4, 5)))


def age(rng):
    return str(rng.randrange(5, 99))


def pool(words, common=0.7):
    """A source of values: mostly the words, so that invented ones are copied too."""
    return lambda rng: _mixed(rng, words, common)


def month(rng):
    return known(rng, MONTHS)
