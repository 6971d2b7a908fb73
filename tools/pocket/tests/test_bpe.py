"""Goal: text becomes tokens and text again. test_server.py compares with llama.cpp's tokenizer."""

import unittest

from common import tokenizer

import bpe


class BpeTest(unittest.TestCase):
    def test_round_trip(self):
        for text in ("Hello, Pocket!", "  two  spaces ", "It's 12:05\n\n\tnow", "Größe, naïve, 漢字 🙂", "don'T I'LL"):
            self.assertEqual(tokenizer().decode(tokenizer().encode(text)), text)

    def test_specials_are_one_token(self):
        ids = tokenizer().encode("<|im_start|>user\nhi<|im_end|>")
        self.assertEqual(ids[0], tokenizer().ids["<|im_start|>"])
        self.assertEqual(ids[-1], tokenizer().ids["<|im_end|>"])

    def test_digits_are_single(self):
        pieces = [tokenizer().tokens[i] for i in tokenizer().encode("4127")]
        self.assertEqual(pieces, ["4", "1", "2", "7"])

    def test_names_are_composed(self):
        for name in (" Hannah", " Alice", " Biscuit", " London"):
            self.assertGreater(len(tokenizer().encode(name)), 1, name)

    def test_training_learns_the_most_frequent_pair_first(self):
        made = bpe.train(["abab abab ab cd"], 256 + 2, ["<x>"])
        self.assertEqual(made.merges[0], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
