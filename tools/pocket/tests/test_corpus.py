"""Goal: the corpus says what it should, and nothing of the probes. Method: samples; set
POCKET_CORPUS_TOKENS=30000000 for all that is trained on."""

import dataclasses
import json
import os
import pathlib
import random
import re
import unittest

import common  # noqa: F401

import probes
import train
from corpus import clauses, facts, phrases, recall, session, strangers, words, written
from corpus.garble import garble, held_out, salad
from corpus.phrases import expand
from corpus.shares import Shares

TOKENS = int(os.environ.get("POCKET_CORPUS_TOKENS", 300_000))


def texts(tokens, seed=1):
    """What `make pocket` trains on, a part of each stage: every row is made as data.row() makes it."""
    whole = sum(stage.steps * stage.rows * stage.length for stage in train.STAGES)
    every = max(1, whole // tokens)
    for stage in train.STAGES:
        for step in range(0, stage.steps, every):
            for row in range(stage.rows):
                rng = random.Random(f"{seed}/{stage.name}/{step}/{row}")
                conversation = session.conversation(rng, stage.length, stage)
                yield "".join(piece.text for piece in conversation.pieces(session.forms(rng, conversation)))


def literal(text):
    """How a wording is looked for: without case and without marks at its ends."""
    return text.lower().strip(" .?!")


def without_clauses(text):
    """The text, and what is left of it where clauses.py may have put something around it."""
    made = [text]
    made += [text.removeprefix(f"{clause}, ") for clause in clauses.all_of("B") if text.startswith(f"{clause}, ")]
    return made + [each.removesuffix(f", {clause}") for each in made for clause in clauses.all_of("E")
                   if each.endswith(f", {clause}")]


class HeldOutTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = "\n".join(texts(TOKENS)).lower()
        cls.files = [probes.written(mode) for mode in ("heldout", "dev", "wordings")]

    def test_no_value_of_the_probes_occurs(self):
        seen = set(re.findall(r"\w+", self.text))
        for probed in self.files:
            for kind, values in probed["values"].items():
                self.assertEqual([value for value in values if value.lower() in seen], [], kind)

    def test_no_question_of_the_probes_occurs(self):
        for probed in self.files:
            asked = [question for question, _ in probed["facts"]]
            asked += [question for entry in probed["recall"] for question in entry["ask"]]
            self.assertEqual([question for question in asked if literal(question) in self.text], [])

    def test_no_statement_of_the_probes_occurs(self):
        for probed in self.files:
            for entry in probed["recall"]:
                for told in entry["tell"]:
                    pattern = re.escape(literal(told)).replace(re.escape("{v}"), r"[^\n]{1,40}?")
                    self.assertIsNone(re.search(pattern, self.text), told)

    def test_chatter_gives_nothing_away(self):
        said = " ".join(user + " " + answer for user, answer in probes.chatter())
        for probed in self.files:
            for values in probed["values"].values():
                self.assertEqual([value for value in values if probes.contains(said, value)], [])


class CannotBeMadeTest(unittest.TestCase):
    """Stronger than any sample: no pattern makes a wording of the probes, whatever is drawn."""

    def setUp(self):
        self.files = [probes.written(mode) for mode in ("heldout", "dev", "wordings")]

    def makeable(self, wordings, patterns, openers, closers):
        """`patterns`: regular expressions. Those wordings that one of them makes."""
        around = ["(?:" + "|".join(re.escape(text.lower()) for text in texts) + ")?" for texts in (openers, closers)]
        made = [re.compile(f"{around[0]}(?:{pattern}){around[1]}", re.I) for pattern in sorted(set(patterns))]
        return [text for text in wordings for bare in without_clauses(literal(text))
                if any(each.fullmatch(bare) for each in made)]

    def test_facts(self):
        patterns = [phrases.regex(pattern) for fact in facts.FACTS for pattern in fact.questions + fact.written()]
        for probed in self.files:
            asked = [question for question, _ in probed["facts"]]
            self.assertEqual(self.makeable(asked, patterns, phrases.OPENERS, phrases.QUESTION_CLOSERS), [])

    def test_recall(self):
        attributes = {attribute.subject: attribute for attribute in recall.ATTRIBUTES}
        for probed in self.files:
            for entry in probed["recall"]:
                attribute = attributes[entry["subject"]]
                fills = {name: phrases.regex(text) for name, text in attribute.fills.items()}
                told, asked = (usual + more + by_hand for usual, more, by_hand in zip(
                    (attribute.statements, attribute.questions), attribute.further(), attribute.written()))
                asks = [phrases.regex(pattern, **fills) for pattern in asked]
                self.assertEqual(self.makeable(entry["ask"], asks, phrases.OPENERS, phrases.QUESTION_CLOSERS), [])
                tells = [phrases.regex(pattern, v="VALUE", **fills) for pattern in told]
                texts = [text.replace("{v}", "VALUE") for text in entry["tell"]]
                self.assertEqual(self.makeable(texts, tells, phrases.STATEMENT_OPENERS, phrases.STATEMENT_CLOSERS), [])

    def test_corrections(self):
        changes = json.loads((words.PROBES / "corrections.json").read_text())
        for pattern in session.CORRECTIONS + written.wordings("correction", "C") + written.requests("correction", "C"):
            made = re.compile(phrases.regex(pattern, s="STATEMENT", old=".+"), re.I)
            for change in changes:
                self.assertIsNone(made.fullmatch(change.format(s="STATEMENT")), pattern)
                self.assertNotIn(literal(change.format(s="")), literal(pattern))


class WrittenTest(unittest.TestCase):
    """Every line that was written by hand is one that a conversation can use."""

    def test_lines_are_about_something_and_have_their_holes(self):
        topics = {fact.topic for fact in facts.FACTS}
        subjects = {attribute.subject: attribute for attribute in recall.ATTRIBUTES}
        families = {attribute.family(): attribute for attribute in (*recall.ATTRIBUTES, recall.other(random.Random(1)))}
        for name in ("corrections", "facts", "questions", "requests", "scenes", "statements"):
            for line in (pathlib.Path(written.__file__).parent / "written" / f"{name}.txt").read_text().splitlines():
                about, kind, pattern = line.split("|", 2)
                holes = sorted(set(re.findall(r"\{(\w+)\}", pattern)))
                if about == "correction":
                    self.assertEqual((kind, holes[-1], pattern.count("{s}")), ("C", "s", 1), line)
                elif about in topics:
                    self.assertEqual((kind, holes), ("Q", []), line)
                else:
                    self.assertEqual(pattern.count("{v}"), 1 if kind == "S" else 0, line)
                    filled = set() if about in subjects else set(families[about].fills)
                    self.assertLessEqual(set(holes) - {"v"}, filled, line)
                self.assertTrue(expand(random.Random(2), pattern), line)

    def test_every_subject_and_topic_has_some(self):
        for attribute in recall.ATTRIBUTES:
            for kind in "SQ":
                self.assertGreater(len(written.wordings(attribute.subject, kind)), 20, attribute.subject)
                self.assertGreater(len(written.requests(attribute.subject, kind)), 10, attribute.subject)
                self.assertGreater(len(written.scenes(attribute.subject, kind)), 10, attribute.subject)
        for fact in facts.FACTS:
            self.assertGreater(len(fact.written()), 50, fact.topic)

    def test_requests_end_as_commands_in_the_last_stages_only(self):
        rng = random.Random(15)
        ends = {share: {phrases.question(rng, "name my cat", Shares(requests=share)).strip()[-1] for _ in range(300)} for share in (0.0, 1.0)}
        self.assertNotIn(".", ends[0.0])
        self.assertLessEqual({".", "!"}, ends[1.0])


class ClausesTest(unittest.TestCase):
    def test_they_are_put_around_what_is_told(self):
        rng = random.Random(16)
        made = {clauses.around(rng, "my dog Rex is old", "Rex") for _ in range(200)}
        self.assertGreater(len(made), 150)
        for text in made:
            self.assertIsNotNone(re.fullmatch(r"(.+, )?my dog Rex(, [^,]+,)? is old(, .+)?", text), text)

    def test_all_lines_are_for_one_place(self):
        lines = (pathlib.Path(clauses.__file__).parent / "written" / "clauses.txt").read_text().splitlines()
        self.assertEqual(len(lines), sum(len(clauses.all_of(place)) for place in "BEM"))
        self.assertEqual([line for line in lines if not re.fullmatch(r"[BEM]\|[A-Za-z0-9' -]+", line)], [])


class StrangersTest(unittest.TestCase):
    def test_they_stand_where_no_word_of_importance_does(self):
        rng = random.Random(17)
        told = "at the zoo my steps lead me straight to the lynx, the animal I love best"
        made = [strangers.strange(rng, told, "Noted: your favorite animal is lynx.").split() for _ in range(200)]
        kept = [len({words[at] for words in made}) == 1 for at in range(len(told.split()))]
        self.assertEqual([word for word, same in zip(told.split(), kept) if not same],
                         ["my", "steps", "lead", "me", "straight", "love"])
        self.assertGreater(len({tuple(words) for words in made}), 100)

    def test_none_says_what_a_message_is_about(self):
        self.assertLessEqual({"dog", "puppy", "locker", "password", "profession"}, strangers.meaning())
        self.assertEqual(strangers.meaning() & set(strangers.strangers()), set())
        self.assertGreater(len(strangers.strangers()), 3000)

    def test_swapped_values_are_spelled_like_those_of_the_attribute(self):
        rng, shares = random.Random(18), Shares(written=1.0, real=1.0, scenes=1.0, swapped=1.0)
        attributes = {attribute.subject: attribute for attribute in recall.ATTRIBUTES}
        for subject, capital in (("your dog's name", True), ("your favorite animal", False)):
            values = [attributes[subject].draw(rng, shares) for _ in range(100)]
            self.assertEqual({value[0].isupper() for value in values}, {capital}, subject)


class RecallTest(unittest.TestCase):
    def test_answers_are_what_was_told_last(self):
        """Follows a long conversation with a memory of its own, in the words of the first and the last stage."""
        for stage in (Shares(), dataclasses.replace(train.STAGES[-1], garbled=0.0, salads=0.0)):
            self.follow(stage)

    def follow(self, shares):
        told, asked = {}, 0
        rng = random.Random(3)
        for _ in range(20):
            told.clear()
            for exchange in session.conversation(rng, 1500, shares).exchanges:
                if exchange.category in ("statement", "correction"):
                    claims = re.split(r", and |, (?=your |the )", exchange.answer.removeprefix("Noted: ")[:-1])
                    for claim in claims:
                        subject, value = re.split(r" (?:is|are) ", claim, maxsplit=1)
                        told[subject.lower()] = value
                elif exchange.category == "recall":
                    subject, value = re.split(r" (?:is|are) ", exchange.answer[:-1], maxsplit=1)
                    self.assertEqual(told[subject.lower()], value)
                    asked += 1
        self.assertGreater(asked, 100)

    def test_statements_contain_their_value(self):
        rng = random.Random(4)
        for attribute in recall.ATTRIBUTES:
            for _ in range(50):
                value = attribute.value(rng)
                self.assertIn(value, attribute.state(rng, value))

    def test_statements_of_a_session_contain_their_values(self):
        rng = random.Random(5)
        for _ in range(50):
            for exchange in session.conversation(rng, 400).exchanges:
                if exchange.category == "statement":
                    value = re.split(r" (?:is|are) ", exchange.answer[:-1])[-1]
                    self.assertIn(value, exchange.user)

    def test_wordings_are_many(self):
        rng = random.Random(6)
        for attribute in recall.ATTRIBUTES:
            self.assertGreater(len({attribute.ask(rng) for _ in range(600)}), 25, attribute.subject)
            self.assertGreater(len({attribute.state(rng, "VALUE") for _ in range(600)}), 25, attribute.subject)

    def test_nobody_asks_in_vain(self):
        """What is answered as untold was not told."""
        rng = random.Random(7)
        subjects = {a.topic(): a.subject for a in recall.ATTRIBUTES}
        for _ in range(20):
            said = ""
            for exchange in session.conversation(rng, 1000).exchanges:
                if exchange.category == "untold" and exchange.topic in subjects:
                    self.assertNotIn(f"{subjects[exchange.topic]} is", said)
                if exchange.told:
                    said += exchange.answer


class GarbleTest(unittest.TestCase):
    def test_words_of_the_answer_stay_together(self):
        rng = random.Random(11)
        for _ in range(300):
            said = garble(rng, "please note that my keys are in the old cellar, thanks", "Noted: your keys are in the "
                          "old cellar.", turn=False)
            self.assertIn("in the old cellar", said)

    def test_values_survive_in_sessions(self):
        rng = random.Random(12)
        for _ in range(100):
            for exchange in session.conversation(rng, 400, Shares(garbled=1.0)).exchanges:
                if exchange.category == "statement":
                    value = re.split(r" (?:is|are) ", exchange.answer[:-1])[-1]
                    self.assertIn(value, exchange.user)

    def test_a_salad_keeps_its_value_and_its_subject(self):
        rng = random.Random(14)
        for _ in range(300):
            said = salad(rng, "my locker has the number 4711", "Noted: your locker number is 4711.")
            self.assertIn("4711", said.split())
            self.assertIn("locker", said.split())

    def test_it_changes_most_messages(self):
        rng = random.Random(13)
        asked = "do you still know what my dog is called"
        made = {garble(rng, asked, "Your dog's name is Rex.", turn=True) for _ in range(100)}
        self.assertGreater(len(made), 50)

    def test_probes_are_left_out(self):
        for name in ("heldout", "dev"):
            probed = json.loads((words.PROBES / f"{name}.json").read_text())
            for asked, _ in probed["facts"]:
                self.assertTrue(held_out(asked.lower()), asked)
            for entry in probed["recall"]:
                self.assertTrue(held_out(entry["tell"][0].format(v="Somebody")), entry)
        self.assertTrue(held_out("That has changed. My dog is called Rex."))
        self.assertFalse(held_out("What is my name?"))


class FactsTest(unittest.TestCase):
    def test_wordings_are_many_and_answers_differ(self):
        rng = random.Random(8)
        self.assertEqual(len({fact.answer for fact in facts.FACTS}), len(facts.FACTS))
        for fact in facts.FACTS:
            self.assertGreaterEqual(len({fact.ask(rng) for _ in range(600)}), 20, fact.topic)


class PhrasesTest(unittest.TestCase):
    def test_patterns(self):
        rng = random.Random(9)
        seen = {expand(rng, "a[b|c[d|]|] {v}", v="x") for _ in range(100)}
        self.assertEqual(seen, {"ab x", "acd x", "ac x", "a x"})

    def test_the_regular_expression_matches_what_is_made(self):
        rng = random.Random(10)
        for attribute in recall.ATTRIBUTES:
            fills = {name: phrases.regex(text) for name, text in attribute.fills.items()}
            made = re.compile("|".join(phrases.regex(pattern, **fills) for pattern in attribute.questions))
            for _ in range(20):
                self.assertIsNotNone(made.fullmatch(attribute.ask(rng)))


if __name__ == "__main__":
    unittest.main()
