"""How users tell numbers, words to keep, places of things, and anything else. {v} and {x} as in
wordings_people.py.
"""

from corpus.asking import asks, patterns

NUMBER_STATEMENTS = patterns("""
[write down|note] my {x} number: {v}
{v} is [my {x} number|the number of my {x}]
the {x} I [use|have|got] has the number {v}
my {x} carries the number {v}
[look for|go to|take] {x} {v}, it is mine
[at the moment|today|now] my {x} is number {v}
my {x} number is {v}
my {x} has the number {v}
the number of my {x} is {v}
my {x}[|'s number]: {v}
{x} number {v} is mine
my {x} is [number |no. |the number |]{v}
I have {x} [number |]{v}
I was given {x} [number |]{v}
they gave me {x} [number |]{v}
mine is {x} [number |]{v}
I [booked|got|reserved|am using|use] {x} [number |]{v}
the {x} number I [have|got|need|use] is {v}
it is {x} [number |]{v} for me
the number on my {x} is {v}
""")
NUMBER_QUESTIONS = asks("""
what is my {x} number
[what's|whats] my {x} number
what is the number of my {x}
which {x} [is mine|do I have|did I get|did I book|am I using|was I given]
what number [is my {x}|does my {x} have|has my {x}|is on my {x}]
[which|what] number does my {x} have
do you [know|remember|recall|still know] [my {x} number|the number of my {x}|which {x} is mine|which {x} I have]
can you [tell me|say|remember|repeat] [my {x} number|the number of my {x}]
[tell me|say|repeat|remind me of|give me] [my {x} number|the number of my {x}]
my {x} number
which {x} number [did I say|did I tell you|do I have]
I forgot [my {x} number|the number of my {x}]
what was [my {x} number|the number of my {x}] again
""",
    "my {x} number|the number of my {x}|the {x} number I have|the number my {x} has|the number on my {x}",
    "what my {x} number is|which {x} is mine|which {x} I have|what number my {x} has|which number my {x} has|what the number of my {x} is")
WORD_STATEMENTS = patterns("""
[I tell you|here is] the {x}: {v}
the [new|right|correct|current] {x} is {v}
[the|our] {x} was changed to {v}
we changed [the|our] {x} to {v}
{v}, that is [the|my|our] {x}
say {v} when they ask for the {x}
the {x} is {v}
my {x} is {v}
our {x} is {v}
the {x}[| is|:] "{v}"
remember the {x} {v}
[keep|note|learn|save] the {x} {v}
the {x} [for today|for tonight|for the door|for the house|of the day] is {v}
use {v} as the {x}
[I chose|I set|we chose|we agreed on|we use|I use|they gave us] {v} as the {x}
{v} is [the|my|our] {x}
as {x} [I chose|I use|we use|take] {v}
the {x} [reads|goes|says] {v}
the {x} to [use|remember|open the door|get in] is {v}
""")
WORD_QUESTIONS = asks("""
what is [the|my|our|the] {x}
[what's|whats] the {x}
do you [know|remember|recall|still know] the {x}
can you [tell me|say|remember|repeat] the {x}
[tell me|say|repeat|remind me of|give me|write] the {x}
which {x} [did I tell you|did I give you|did we choose|do we use|did I set]
what was the {x} [|again|I told you|I gave you]
the {x}
how does the {x} [go|read]
I [forgot|need] the {x}
what {x} [did I tell you|did I choose|should I use|do I need]
""",
    "the {x}|my {x}|our {x}|the {x} I chose|the right {x}|the {x} I told you",
    "what the {x} is|how the {x} goes|which {x} we use|which {x} I told you|what my {x} is|what {x} I chose")
PLACE_STATEMENTS = patterns("""
my {x} {be} [now |always |]{v}
[today|yesterday|last night] I [put|left] my {x} {v}
somebody [put|left] my {x} {v}
look {v}, there {be} my {x}
my {x} [can be found|stay|belong] {v}
I hid my {x} {v}
I [remember|know] that my {x} {be} {v}
if you look {v}, you see my {x}
my {x} {be} {v}
I [put|left|laid|placed|have put|hid|dropped] my {x} {v}
I keep my {x} {v}
you will find my {x} {v}
my {x} lie {v}
the place of my {x} is {v}
I [left|forgot] my {x}, {it} {be} {v}
I found my {x}, {it} {be} {v}
{v} {be} my {x}
{v} I [put|left|keep] my {x}
""")
PLACE_QUESTIONS = asks("""
where {be} my {x}
where did I [put|leave|place|lay|hide] my {x}
where [can|do|could|will] I find my {x}
where do I keep my {x}
where have I [put|left] my {x}
do you [know|remember|recall|still know] where [my {x} {be}|I put my {x}|I left my {x}]
can you [tell me|say|remember] where [my {x} {be}|I put my {x}|I left my {x}]
[tell me|say|remind me] where [my {x} {be}|I put my {x}|I left my {x}]
I [cannot|can't] find my {x}, where {be} {it}
I am looking for my {x}
where did I say my {x} {be}
""",
    "my {x}|the place of my {x}|the place where my {x} {be}",
    "where my {x} {be}|where I put my {x}|where I left my {x}|where to find my {x}|where I can find my {x}|in which place my {x} {be}|where I keep my {x}")
OTHER_STATEMENTS = patterns("""
my {x} is {v}
my {x} is [called |now |]{v}
my {x}: {v}
the {x} I [have|use|want|need|chose] is {v}
as my {x} I [have|use|chose|take] {v}
I have {v} as my {x}
[please|do] note my {x}: {v}
for my {x} I [use|have|chose] {v}
{v} is my {x}
""")
OTHER_QUESTIONS = asks("""
what is my {x}
[what's|whats] my {x}
[which|what] {x} do I [have|use|want]
do you [know|remember|recall] my {x}
can you [tell me|remember|say] my {x}
[tell me|say|repeat|remind me of] my {x}
my {x}
what did I say my {x} is
I forgot my {x}
what was my {x} again
""",
    "my {x}|the {x} I have|the {x} I told you|our {x}",
    "what my {x} is|which {x} I have|what {x} I have|what my {x} was")
