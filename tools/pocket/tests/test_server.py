"""Goal: what training assumes is what Samovar does: rendering, tokens, and that the file loads at all.
Method: an untrained Pocket, exported, served by build/samovar. Left out where that is not built."""

import os
import pathlib
import random
import re
import tempfile
import unittest

import common
import torch

import evaluate
import export
import gguf
import model as pocket
from corpus import session, tools
from corpus.render import Conversation

SAMOVAR = pathlib.Path(os.environ.get("SAMOVAR_BINARY", common.ROOT / "build")) / "samovar"
TEXTS = 320


def template():
    """Of the llama.cpp that Samovar is built with."""
    cache = (SAMOVAR.parent / "CMakeCache.txt").read_text()
    folder = re.search(r"^SAMOVAR_LLAMA_DIR:PATH=(.*)$", cache, re.M)
    return pathlib.Path(folder.group(1)) / "src/models/templates/Qwen3.5-4B.jinja"


@unittest.skipUnless(SAMOVAR.exists(), f"{SAMOVAR} is not built")
class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pocket-test-")
        torch.manual_seed(1)
        model = pocket.Pocket(pocket.Config(len(common.tokenizer().tokens)))
        path = pathlib.Path(cls.folder.name) / "untrained.gguf"
        gguf.write(path, export.metadata(model.config, common.tokenizer(), template().read_text()),
                   list(export.tensors(model, quantized=True)))
        cls.server = evaluate.Server(SAMOVAR, path, cls.folder.name, thinking=True)
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def rendered(self, conversation, **options):
        body = {"messages": conversation.messages(), **options}
        if conversation.tools:
            body["tools"] = list(conversation.tools)
        return self.server.post("/apply-template", body)["prompt"]

    def conversations(self, count):
        rng = random.Random("template")
        made = []
        for i in range(count):
            conversation = session.conversation(rng, 300)
            if i % 4 == 0:  # a tool, called
                talker = session.Session(rng, 1e9, with_tool=True)
                conversation = Conversation(conversation.exchanges[:2] + [talker.time()], conversation.system,
                                            (tools.TOOL,))
                if i % 8 == 0:
                    conversation.exchanges.append(talker.talk())
            made.append(conversation)
        return made

    def test_conversations_are_rendered_as_the_template_does(self):
        for conversation in self.conversations(24):
            pieces = conversation.pieces(conversation.exact_forms("closed"))
            prompt = "".join(piece.text for piece in pieces[:-2])
            self.assertEqual(self.rendered(conversation, chat_template_kwargs={"enable_thinking": False}), prompt)
            if not conversation.exchanges[-1].clock:  # or the thought before the call would be missing
                pieces = conversation.pieces(conversation.exact_forms("open"))
                self.assertEqual(self.rendered(conversation), "".join(piece.text for piece in pieces[:-2]))

    def test_tokens_are_those_of_the_server(self):
        rng = random.Random("tokens")
        texts = ["It's 12:05,\n\n  isn't it?\t", "Größe naïve 漢字 🙂 x̂", " a  b\r\n c", "1234 ½ ²", "...\n?!"]
        while len(texts) < TEXTS:
            conversation = session.conversation(rng, 120)
            texts.append("".join(piece.text for piece in conversation.pieces(session.forms(rng, conversation))))
        for text in texts:
            self.assertEqual(self.server.post("/tokenize", {"content": text})["tokens"],
                             common.tokenizer().encode(text), text)

    def test_pieces_are_tokenized_as_the_whole_prompt(self):
        for conversation in self.conversations(8):
            pieces = conversation.pieces(conversation.exact_forms("closed"))[:-2]
            apart = [token for piece in pieces for token in common.tokenizer().encode(piece.text)]
            whole = self.server.post("/tokenize", {"content": "".join(piece.text for piece in pieces)})["tokens"]
            self.assertEqual(apart, whole)


if __name__ == "__main__":
    unittest.main()
