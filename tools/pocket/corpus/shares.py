"""How much of what a conversation has; 0 is none, as in the first stages of training."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shares:
    copying: float = 0.0  # share of exchanges that only repeat words
    sums: float = 0.0  # and of those that are sums, beside the usual ones
    corrections: float = 0.0  # and of those that correct
    statements: float = 0.0  # and of those that tell something
    facts: float = 0.0  # and of those that ask for a fact as the patterns do
    garbled: float = 0.0  # share of questions and statements in garbled words (garble.py)
    salads: float = 0.0  # of what is left: share in hardly more than words that matter
    further: float = 0.0  # share of the further wordings (wordings_further.py)
    written: float = 0.0  # share of the written ones (written.py)
    requests: float = 0.0  # and of those that of requests.txt; share of requests that end without "?"
    scenes: float = 0.0  # and of those that of scenes.txt
    clauses: float = 0.0  # share of statements and questions with a clause more (clauses.py)
    strange: float = 0.0  # of what is not garbled, either: share with strangers among its words (strangers.py)
    swapped: float = 0.0  # share of real values of another kind
    real: float = 0.0  # share of real values (written/values.txt); without it a share of `written`


NONE = Shares()
