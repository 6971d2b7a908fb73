"""What the tests share: the modules' folder on the path, and a vocabulary made once."""

import functools
import pathlib
import sys

POCKET = pathlib.Path(__file__).parents[1]
ROOT = POCKET.parents[1]
sys.path.insert(0, str(POCKET))

import environment  # noqa: E402, F401  (before torch)
import data  # noqa: E402


@functools.lru_cache(maxsize=None)
def tokenizer():
    return data.make_tokenizer(seed=1)
