"""Training batches: a pure function of (seed, stage, step), so that a run can stop and go on anywhere."""

import random

import torch

from corpus import session, words
from corpus.render import SPECIALS
from corpus.shares import NONE
import bpe

VOCABULARY = 1024
CATEGORIES = ("", "statement", "correction", "recall", "recall two", "untold", "fact", "exercise", "talk", "beyond",
              "time", "tool")


def make_tokenizer(seed):
    """The vocabulary of a corpus sample."""
    rng = random.Random(f"{seed}/vocabulary")
    texts = []
    for _ in range(1500):
        conversation = session.conversation(rng, 512)
        texts.append("".join(piece.text for piece in conversation.pieces(session.forms(rng, conversation))))
    names = words.FIRST_NAMES + words.PET_NAMES + words.CITIES
    return bpe.train(texts, VOCABULARY, SPECIALS, frozenset(name.lower() for name in names))


def encode(tokenizer, pieces):
    """Tokens, loss weights and category numbers of a conversation."""
    tokens, weights, categories = [], [], []
    for piece in pieces:
        ids = tokenizer.encode(piece.text)
        tokens += ids
        weights += [piece.weight] * len(ids)
        categories += [CATEGORIES.index(piece.category)] * len(ids)
    return tokens, weights, categories


def row(tokenizer, rng, length, shares=NONE):
    """One conversation, cut to `length` tokens."""
    conversation = session.conversation(rng, length, shares)
    columns = encode(tokenizer, conversation.pieces(session.forms(rng, conversation)))
    padding = (tokenizer.ids["<|endoftext|>"], 0.0, 0)
    return [(column + [fill] * length)[:length] for column, fill in zip(columns, padding)]


def stage_batch(tokenizer, seed, stage, step):
    """A step's batch; `stage` as in train.py."""
    return batch(tokenizer, f"{seed}/{stage.name}/{step}", stage.rows, stage.length, stage)


def batch(tokenizer, key, rows, length, shares=NONE):
    """Tensors [rows, length]: tokens, weights, categories. `key` names the batch."""
    made = [row(tokenizer, random.Random(f"{key}/{i}"), length, shares) for i in range(rows)]
    tokens, weights, categories = zip(*made)
    return torch.tensor(tokens), torch.tensor(weights), torch.tensor(categories)
