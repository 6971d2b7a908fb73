"""A conversation as the Qwen3.5 chat template writes it, cut into pieces that carry loss weights.

The template shows an answer in one of three forms:

bare    in the history: the answer alone
closed  the client switched thinking off: an empty think block belongs to the prompt
open    thinking is on: the prompt ends in "<think>\\n", and the model writes its thought first

`exact` is what the template makes of a whole conversation: every exchange bare but the last one.
"""

import dataclasses

from corpus import tools

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<tool_response>",
            "</tool_response>", "<think>", "</think>")
FORMS = ("bare", "closed", "open")

ANSWER, USER, SYSTEM, MARKER = 1.0, 0.1, 0.02, 0.0  # loss weights


@dataclasses.dataclass(frozen=True)
class Exchange:
    """One message of the user and the answer; with `clock`, by way of the tool."""

    user: str
    answer: str
    topic: str  # what the thought is about
    category: str  # under which losses are reported
    clock: str = ""  # what the tool said
    told: bool = False  # the user tells something, rather than asking

    def thought(self):
        verb = "tells me" if self.told else "asks about"
        return f"The user {verb} {self.topic}."


@dataclasses.dataclass(frozen=True)
class Piece:
    """Text that is tokenised by itself, since a prompt ends or begins here."""

    text: str
    weight: float
    category: str = ""


@dataclasses.dataclass
class Conversation:
    exchanges: list
    system: str = ""
    tools: tuple = ()

    def pieces(self, forms):
        """`forms` has the form of each exchange."""
        pieces = []
        head = tools.header(self.tools) if self.tools else ""
        head += ("\n\n" if self.tools and self.system else "") + self.system
        if head:
            pieces += [Piece("<|im_start|>system\n", MARKER), Piece(head, SYSTEM), Piece("<|im_end|>\n", MARKER)]
        for exchange, form in zip(self.exchanges, forms):
            pieces += [Piece("<|im_start|>user\n", MARKER), Piece(exchange.user, USER), Piece("<|im_end|>\n", MARKER)]
            if exchange.clock:
                pieces += _answer(exchange, tools.CALL, form)
                response = f"<|im_start|>user\n<tool_response>\n{exchange.clock}\n</tool_response><|im_end|>\n"
                pieces.append(Piece(response, MARKER))
            pieces += _answer(exchange, exchange.answer, form)
        return pieces

    def exact_forms(self, last):
        return ["bare"] * (len(self.exchanges) - 1) + [last]

    def messages(self):
        """As a client sends it, without the last answer."""
        listed = [{"role": "system", "content": self.system}] if self.system else []
        for exchange in self.exchanges:
            listed.append({"role": "user", "content": exchange.user})
            if exchange.clock:
                call = {"id": "call_1", "type": "function", "function": {"name": tools.NAME, "arguments": "{}"}}
                listed.append({"role": "assistant", "content": "", "tool_calls": [call]})
                listed.append({"role": "tool", "tool_call_id": "call_1", "content": exchange.clock})
            listed.append({"role": "assistant", "content": exchange.answer})
        return listed[:-1]


def _answer(exchange, text, form):
    prompt, thought = {"bare": ("", ""), "closed": ("<think>\n\n</think>\n\n", ""),
                       "open": ("<think>\n", exchange.thought() + "\n</think>\n\n")}[form]
    return [Piece("<|im_start|>assistant\n" + prompt, MARKER),
            Piece(thought + text + "<|im_end|>", ANSWER, exchange.category), Piece("\n", MARKER)]
