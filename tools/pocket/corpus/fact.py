"""A fact: what it is about, the one answer, and patterns of ways to ask for it. Tasks ("list the sessions
on disk") share the ways of asking for a command.
"""

import dataclasses

from corpus import written as one_by_one
from corpus.phrases import expand
from corpus.shares import NONE


@dataclasses.dataclass(frozen=True)
class Fact:
    topic: str  # as a thought names it
    answer: str
    questions: tuple

    def ask(self, rng, shares=NONE):
        if shares.written > 0 and rng.random() < shares.written:
            return expand(rng, rng.choice(self.written()))
        return expand(rng, rng.choice(self.questions))

    def written(self):
        return one_by_one.wordings(self.topic, "Q")


# Ways of asking for anything, before a noun ("your age") and before a clause ("how old you are").
_NOUN_HEADS = ("[tell me|what is|what about|give me|explain|describe|talk about|I need to know|say something about|how about|"
               "I ask about|what can you say about|do you know|can you tell me|can you explain|let us talk about|"
               "information about|a word about|I am interested in|teach me about|I have a question about|more about|"
               "I heard about|what do you say about|I want to hear about|speak about|I know nothing about|"
               "is there something to say about]")
_CLAUSE_HEADS = ("[tell me|say|explain|I wonder|I would like to know|I want to know|do you know|can you tell me|"
                 "could you say|please tell me|may I ask|let me know|I am curious|would you tell me|I do not know|"
                 "please explain|I ask you|teach me|the question is|my question is|I have to know|nobody told me|"
                 "could you explain|is it known|I want to learn|help me understand|I never understood|answer me:]")


def fact(topic, answer, questions, nouns, clauses):
    """The fact's own questions; and as often nouns and clauses (parted by |) behind the shared heads."""
    lines = tuple(questions.strip().splitlines())
    shared = (f"{_NOUN_HEADS} [{nouns}]", f"{_CLAUSE_HEADS} [{clauses}]")
    return Fact(topic, answer, lines + shared * (len(lines) // 3))


_TASK_FORMS = (
    "how [do|can|would|could] [I|you|one|we] {do}",
    "how [do|can] I {do} [with|in|using] [Samovar|the samovar]",
    "[what|which] command [do I need to|do I use to|should I use to|lets me|can|is there to|will] {do}",
    "[what|which] command of Samovar [can|lets me|will] {do}",
    "[tell me|explain|show me|say] how [to|I can|I] {do}",
    "I [want|would like|need|have|wish] to {do}",
    "[can|could|may] [I|Samovar|you|we] {do}[| with Samovar]",
    "[can|could] you [tell me|explain|show me] how [to|I can] {do}",
    "is [there|it possible] [a way |a command |]to {do}",
    "what do I [type|run|do|write|enter] to {do}",
    "[the|which is the] command to {do}",
    "[help me|please help me] {do}",
    "how is it possible to {do}",
    "I do not know how to {do}",
    "[I wonder|I would like to know|may I ask|let me know|please tell me|I ask you] how [to|I can|I] {do}",
    "[I try|I am trying|I plan|my plan is|my goal is|it is time|I have|I decided] to {do}",
    "[is it easy|is it hard|what does it take|what is the way|what is needed] to {do}",
    "[with|by] [what|which] command do I {do}",
    "[suppose|imagine|say] I want to {do}",
    "I must {do}, how do I do that",
    "[someone|a friend|my boss] asked me to {do}",
    "give me the [command|option|way] to {do}",
)


def task(topic, answer, *doings):
    return Fact(topic, answer, tuple(form.format(do=doing) for doing in doings for form in _TASK_FORMS))
