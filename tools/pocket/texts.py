"""Conversations as the template writes them, for perplexity (docs/quality.md).

usage: texts.py COUNT TOKENS >FILE      form feeds stand between them
"""

import random
import sys

from corpus import session


def text(number, tokens):
    rng = random.Random(f"perplexity/{number}")
    made = session.conversation(rng, tokens)
    return "".join(piece.text for piece in made.pieces(made.exact_forms("closed")))


def main():
    count, tokens = (int(word) for word in sys.argv[1:])
    sys.stdout.write("\f".join(text(i, tokens) for i in range(count)))


if __name__ == "__main__":
    main()
