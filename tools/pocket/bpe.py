"""Byte-level BPE as llama.cpp reads it: tokenizer "gpt2" with the pre-tokenizer "qwen35".

Text is cut into words (`_WORD`, the expression in llama.cpp's src/llama-vocab.cpp), a word's bytes are
written as printable characters (GPT-2's table), and the merge that was learned first is applied first.
Special tokens are found before anything else.
"""

import collections
import json
import re
import sys
import unicodedata


def _class_of(letter):
    """The members of a Unicode category group such as L, as the inside of a character class."""
    ranges, begin = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(letter)
        if inside and begin is None:
            begin = code
        elif not inside and begin is not None:
            ranges.append(f"\\U{begin:08x}-\\U{code - 1:08x}")
            begin = None
    return "".join(ranges)


_L, _M, _N = (_class_of(letter) for letter in "LMN")
_WORD = re.compile(
    r"'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
    rf"|[^\r\n{_L}{_N}]?[{_L}{_M}]+"
    rf"|[{_N}]"
    rf"| ?[^\s{_L}{_M}{_N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def _byte_letters():
    """GPT-2's table: a printable character for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    table = {byte: chr(byte) for byte in plain}
    table.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return table


BYTE_LETTERS = _byte_letters()
_LETTER_BYTES = {letter: byte for byte, letter in BYTE_LETTERS.items()}


def _letters(word):
    return "".join(BYTE_LETTERS[byte] for byte in word.encode())


class Tokenizer:
    def __init__(self, tokens, merges, specials):
        """`tokens`: ordinary ones, then `specials`, in the order of their ids; `merges`: pairs."""
        self.tokens, self.merges, self.specials = tokens, merges, specials
        self.ids = {token: i for i, token in enumerate(tokens)}
        self._ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
        self._special = re.compile("(" + "|".join(re.escape(special) for special in specials) + ")")
        self._known = {}

    def encode(self, text):
        ids = []
        for part in self._special.split(text):
            if part in self.specials:
                ids.append(self.ids[part])
            else:
                for word in _WORD.findall(part):
                    ids += self._word(word)
        return ids

    def decode(self, ids):
        data = bytearray()
        for i in ids:
            token = self.tokens[i]
            data += token.encode() if token in self.specials else bytes(_LETTER_BYTES[c] for c in token)
        return data.decode(errors="replace")

    def _word(self, word):
        ids = self._known.get(word)
        if ids is None:
            if len(self._known) > 200_000:
                self._known.clear()
            ids = self._known[word] = [self.ids[part] for part in self._merged(word)]
        return ids

    def _merged(self, word):
        parts = list(_letters(word))
        while len(parts) > 1:
            pairs = zip(parts, parts[1:])
            best = min(pairs, key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            parts = _replace(parts, best)
        return parts

    def save(self, path):
        path.write_text(json.dumps({"tokens": self.tokens, "merges": self.merges, "specials": self.specials}))

    @classmethod
    def load(cls, path):
        return cls(**json.loads(path.read_text()))


def _replace(parts, pair):
    merged, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            merged.append(parts[i] + parts[i + 1])
            i += 2
        else:
            merged.append(parts[i])
            i += 1
    return merged


def train(texts, size, specials, skip=frozenset()):
    """Learns a vocabulary of `size` tokens. Words in `skip` (lower case) teach nothing, so that names
    stay composed of the pieces that other names have, too."""
    special = re.compile("|".join(re.escape(s) for s in specials))
    counts = collections.Counter()
    for text in texts:
        for part in special.split(text):
            counts.update(_WORD.findall(part))
    words = [(list(_letters(word)), count) for word, count in sorted(counts.items())
             if word.strip().lower() not in skip]
    tokens = [BYTE_LETTERS[byte] for byte in range(256)]
    merges = []
    pairs, places = collections.Counter(), collections.defaultdict(set)
    for index, (parts, count) in enumerate(words):
        for pair in zip(parts, parts[1:]):
            pairs[pair] += count
            places[pair].add(index)
    while len(tokens) + len(specials) < size:
        best = max(pairs.items(), key=lambda item: (item[1], item[0]))[0]
        merges.append(list(best))
        tokens.append("".join(best))
        for index in places.pop(best):
            parts, count = words[index]
            for pair in zip(parts, parts[1:]):
                pairs[pair] -= count
            parts = _replace(parts, best)
            words[index] = (parts, count)
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
                places[pair].add(index)
        del pairs[best]
    return Tokenizer(tokens + list(specials), merges, list(specials))
