"""Goal: the model looks back only, and training can be interrupted. Method: a small untrained model."""

import pathlib
import tempfile
import types
import unittest

import common
import torch

import data
import model as pocket
import train

torch.set_num_threads(1)


class ModelTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.model = pocket.Pocket(pocket.Config(64))
        self.tokens = torch.randint(0, 64, (2, 300))

    def test_later_tokens_change_nothing(self):
        with torch.no_grad():
            whole, part = self.model(self.tokens), self.model(self.tokens[:, :170])
        self.assertLess((whole[:, :170] - part).abs().max(), 1e-4)

    def test_attention_blocks_do_not_matter(self):
        torch.manual_seed(2)
        q, k, v = torch.randn(1, 50, 4, 8), torch.randn(1, 50, 2, 8), torch.randn(1, 50, 2, 8)
        once, blocks = (pocket.attend(q, k, v, size) for size in (50, 16))
        self.assertLess((once - blocks).abs().max(), 1e-5)

    def test_losses_are_those_of_the_logits(self):
        wanted = torch.rand(2, 300) < 0.3
        wanted[:, 0] = False
        with torch.no_grad():
            losses = self.model.losses(self.tokens, wanted)
            logs = self.model(self.tokens).log_softmax(-1)
        row, column = wanted.nonzero(as_tuple=True)
        expected = -logs[row, column - 1, self.tokens[row, column]]
        self.assertLess((losses - expected).abs().max(), 1e-3)


class TrainingTest(unittest.TestCase):
    """Two stages of a few short steps instead of the real ones."""

    def setUp(self):
        self.scores, train.quick.scores = train.quick.scores, lambda model, tokenizer: {}
        self.stages, train.STAGES = train.STAGES, (train.Stage("one", 2, 64, 3, 2e-3, 2e-3),
                                                   train.Stage("two", 2, 96, 2, 1e-3, 0.0))
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        train.quick.scores = self.scores
        train.STAGES = self.stages
        self.folder.cleanup()

    def training(self, name, workers, minutes=60.0):
        out = pathlib.Path(self.folder.name) / name
        out.mkdir(exist_ok=True)
        common.tokenizer().save(out / "tokenizer.json")
        return train.Training(types.SimpleNamespace(out=out, seed=1, scale=1.0, workers=workers, minutes=minutes))

    def parameters(self, training):
        return torch.cat([p.detach().flatten() for p in training.model.parameters()])

    def test_an_interrupted_run_ends_the_same(self):
        whole = self.training("whole", workers=1)
        self.assertTrue(whole.run())
        cut = self.training("cut", workers=1)
        cut.team.start(cut.compute)
        for _ in range(2):
            cut._one_step()
        cut._save()
        again = self.training("cut", workers=1)
        self.assertEqual((again.stage, again.step), (0, 2))
        self.assertTrue(again.run())
        self.assertTrue(torch.equal(self.parameters(whole), self.parameters(again)))

    def test_two_processes_compute_what_one_does(self):
        one, two = self.training("one", workers=1), self.training("two", workers=2)
        for training in (one, two):
            training.team.start(training.compute)
        gradients = []
        for training in (one, two):
            training.team.gradient((0, 0))
            gradients.append(torch.cat([p.grad.flatten() for p in training.model.parameters()]))
            training.team.stop()
        self.assertLess((gradients[0] - gradients[1]).abs().max(), 1e-4 * gradients[0].abs().max())

    def test_another_run_is_refused(self):
        training = self.training("cut", workers=1)
        training._save()
        with self.assertRaises(SystemExit):
            self.training("cut", workers=2)


class QuickTest(unittest.TestCase):
    def test_a_model_that_knows_the_answer_is_right(self):
        """A stand-in that predicts the next token of the very text it is given, but for one."""
        probe = train.quick.probes.Probe("recall 300", ("My dog is Rex.",), 0, "My dog?", "Your dog's name is Rex.",
                                         "Rex")
        made = train.quick.conversation(probe, [("Hi", "Hello!")])
        tokenizer = common.tokenizer()

        def model(tokens, wrong=None):
            logits = torch.nn.functional.one_hot(tokens.roll(-1, 1), len(tokenizer.tokens)).float()
            if wrong is not None:
                logits[0, wrong] = 0
            return logits

        self.assertEqual(train.quick.judged(model, tokenizer, made), {"statement": True, "recall": True})
        late = lambda tokens: model(tokens, wrong=-5)  # noqa: E731
        self.assertEqual(train.quick.judged(late, tokenizer, made), {"statement": True, "recall": False})


class DataTest(unittest.TestCase):
    def test_a_batch_depends_on_its_key_only(self):
        one, again, other = (data.batch(common.tokenizer(), key, 2, 128) for key in ("a", "a", "b"))
        self.assertTrue(torch.equal(one[0], again[0]))
        self.assertFalse(torch.equal(one[0], other[0]))

    def test_answers_count_and_markers_do_not(self):
        tokenizer = common.tokenizer()
        tokens, weights, _ = data.batch(tokenizer, "weights", 8, 256)
        self.assertEqual(set(weights[tokens == tokenizer.ids["<|im_start|>"]].tolist()), {0.0})
        self.assertEqual(set(weights[tokens == tokenizer.ids["<|im_end|>"]].tolist()), {0.0, 1.0})
        self.assertGreater((weights == 1).float().mean(), 0.25)


if __name__ == "__main__":
    unittest.main()
