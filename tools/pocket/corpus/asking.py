"""Lists of patterns, one a line (phrases.py); and the ways of asking for anything that was told.

A pattern is as likely as any other of its list.
"""


def patterns(text):
    return tuple(text.strip().splitlines())


SCENES = ("[is asleep on the sofa|likes the garden|came to visit|is very kind|sits next to me|is in a good mood today|"
          "makes me laugh|was ill last week|waits at the door|likes music|is late again|says hello|needs a rest]")

# Ways of asking for anything, before a noun ("my dog's name") and before a clause ("what my dog is called").
_NOUN_HEADS = ("[tell me|say|give me|repeat|recall|name|write|show me|do you know|do you have|do you still have|have you noted|"
               "what is|what was|what about|how about|I need|I want|I forgot|I lost|I want to hear|let me hear|can you give me|"
               "could you repeat|can I have|can I get|remind me of|please remind me of|find|quick:|next:|now|once more:|"
               "I ask you for|what do you know about|have you forgotten|you remember|try to remember|I am looking for|"
               "we talked about|I mentioned|did I mention|is there a note about|what have I told you about]")
_CLAUSE_HEADS = ("[tell me|say|show me|do you know|do you still know|do you remember|can you tell me|could you tell me|"
                 "could you say|I wonder|I would like to hear|I want to hear|let me hear|I have forgotten|I forgot|I no longer know|"
                 "I am not sure|please repeat|write down|answer me:|let us see if you know|now tell me|quick:|have you noted|"
                 "did you note|did I tell you|have I told you|try to remember|question:|what did I say:|I asked you to remember|"
                 "you should know|surely you know|I bet you know|maybe you remember|are you able to say|is it clear]")


def asks(lines, nouns, clauses):
    """The family's own questions; and as often nouns and clauses behind the shared heads."""
    lines = patterns(lines)
    shared = (f"{_NOUN_HEADS} [{nouns}]", f"{_CLAUSE_HEADS} [{clauses}]")
    return lines + shared * (len(lines) // 3)
