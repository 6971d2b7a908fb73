"""How users tell something about themselves, and how they ask for it: patterns, one a line (phrases.py).

{v} is the value; {x} and the like are filled by the attribute (recall.py). A pattern is as likely as
any other of its list.
"""


def _patterns(text):
    return tuple(line for line in text.strip().splitlines())


_SCENES = ("[is asleep on the sofa|likes the garden|came to visit|is very kind|sits next to me|is in a good mood today|"
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


def _asks(lines, nouns, clauses):
    """The family's own questions; and as often nouns and clauses behind the shared heads."""
    lines = _patterns(lines)
    shared = (f"{_NOUN_HEADS} [{nouns}]", f"{_CLAUSE_HEADS} [{clauses}]")
    return lines + shared * (len(lines) // 3)


NAME_STATEMENTS = _patterns("""
[the vet|everyone|my family|the whole street] knows my {x} {v}
we [chose|picked] {v} as the name of our {x}
[do you know|have you met] my {x} {v}
my {x} is [a good soul|very nice|a bit loud] and is called {v}
say hello to my {x} {v}
[they|my parents|we] gave my {x} the name {v}
my {x} came to us as {v}
[my|our|my|my dear|my old] {x}[ is|'s| is] [called|named|called] {v}
[my|our|my] {x}'s name is {v}
the name of [my|our] {x} is {v}
[the name|name] of my {x}: {v}
my {x} has the [|nice |funny ]name {v}
[I|we] [have|have got|'ve got|own] a {x} [called|named|by the name of|whose name is|with the name] {v}
[I|we] [call|named|have named|always call] [my|our] {x} {v}
my {x} [answers to|goes by|listens to|goes by the name|goes by the name of|answers to the name] {v}
my {x} is {v}
it is {v}, my {x}
{v} is [my {x}|my {x}|the name of my {x}|what I call my {x}|what my {x} is called|my {x}'s name|our {x}]
[you may|you can|please] call my {x} {v}
my {x} {v} """ + _SCENES + """
my {x}, {v}, """ + _SCENES + """
[yesterday|today|last week|this morning|on Sunday] [I|we] [went for a walk|had lunch|sat in the garden|played|went to the sea|watched a film] with my {x} {v}
[I live|I talked|I am here|I spent the day] with my {x}, {v}
[this is about|I want to talk about|let me tell you about|I must tell you about] my {x}, {v}
my {x} [just |]turned [four|five|six|nine] and is [called|named] {v}
when I call {v}, my {x} comes
if you meet my {x}, [say|just say|call out] {v}
people know my {x} [as|by the name] {v}
there is my {x}, [her|his|the] name is {v}
I have a {x}, [his name is|her name is|it is called|called|the name is] {v}
the {x} I have is [called|named] {v}
{v} is the {x} [I have|of my family|that I have]
""")
NAME_QUESTIONS = _asks("""
what is [my|our|my] {x}'s name
[what's|whats] my {x}'s name
what is the name of [my|our|my] {x}
what[ is|'s| was] my {x} [called|named]
how is my {x} called
what did [I|we] [call|name] [my|our] {x}
what do [I|we] call [my|our] {x}
do you [remember|know|recall|still know|still remember] [my {x}'s name|the name of my {x}|what my {x} is called|how my {x} is called|my {x}]
can you [remember|recall|tell me|say|repeat] [my {x}'s name|the name of my {x}|what my {x} is called]
could you [tell me|remind me of|give me] [my {x}'s name|the name of my {x}]
[tell me|say|repeat|give me|remind me of|write] [my {x}'s name|the name of my {x}]
[tell me|remind me|say] what my {x} is called
which name does my {x} [have|go by]
what name [does my {x} have|did I give my {x}|did I tell you for my {x}|has my {x} got]
[my {x}'s name|the name of my {x}|my {x}]
and my {x}
I [forgot|forget|cannot remember|need] [my {x}'s name|the name of my {x}|what my {x} is called]
[I told you|I said|I mentioned] [my {x}'s name|the name of my {x}|what my {x} is called], what [is|was] it
what does my {x} [answer|listen] to
who is my {x}
how do [I|we] call [my|our] {x}
what should I call my {x}
what [is|was] the name of the {x} I [have|told you about|mentioned]
""",
    "my {x}'s name|the name of my {x}|our {x}'s name|the name my {x} has|the name of our {x}|the name I gave my {x}",
    "what my {x} is called|how my {x} is called|what the name of my {x} is|what name my {x} has|who my {x} is|what I call my {x}|how we call our {x}|what my {x}'s name is|which name my {x} has")
SELF_STATEMENTS = _patterns("""
the [person|human|one] in front of you is {v}
I carry the name {v}
my friends know me as {v}
it's {v} [speaking|writing|here]
hello from {v}, that is me
I sign as {v}, that is my name
[remember|note] my name: {v}
my name is {v}
my [full |first |own |]name is {v}
I am {v}
I'm {v}
I am called {v}
I'm called {v}
I am named {v}
[you can |you may |please |just |]call me {v}
[my friends|people|they|all people|my family] call me {v}
[the name is|name is|the name's] {v}
this is {v}[| speaking| here]
[it is |here is |]{v} here
I go by [|the name |the name of ]{v}
you are talking to {v}
[let me introduce myself|nice to meet you|hello, I am new here]: I am {v}
my parents named me {v}
I answer to {v}
you are speaking with {v}
""")
SELF_QUESTIONS = _asks("""
what is my [|own |first ]name
[what's|whats] my name
who am I
what am I called
how am I called
do you [know|remember|recall|still know] [my name|who I am|what I am called|what my name is|how I am called]
can you [tell me|remember|say|repeat] [my name|who I am|what my name is]
[say|tell me|repeat|write] my name
[tell me|say] who I am
what do [people|my friends|you] call me
what should you call me
which name did I [give|tell] you
what name did I [give|tell] you
what did I say my name [is|was]
[with whom|to whom|who] are you [talking|speaking][| to]
my name
by what name do I go
I told you my name, what is it
""",
    "my name|my own name|my first name|the name I have|the name I told you",
    "who I am|what my name is|what I am called|how I am called|which name I have|how people call me|what you can call me")
FAVORITE_STATEMENTS = _patterns("""
my heart belongs to {v} [among|of] all {xs}
{xs}? [I like {v} best|{v}, always|my favorite is {v}]
[everybody|my family] knows that {v} is my favorite {x}
a {x} I [really love|like a lot] is {v}, it is my favorite
I always [choose|pick|take] {v} as my {x}
my [favorite|favourite|favorite|preferred] {x} is {v}
my [favorite|favourite] {x}[| of all| by far]: {v}
[I|personally, I] like {v} [best|most|the most|more than any other {x}]
I love {v} more than any other {x}
the {x} I [like best|like most|love most|prefer|love] is {v}
of all {xs}, I [like|love|prefer] {v}[| best| most]
I prefer {v} [to|over] [any|every] other {x}
as for {xs}, [I like {v} best|I prefer {v}|my favorite is {v}|nothing beats {v}]
no {x} [beats|is better than|is as good as] {v}
for me, the best {x} is {v}
the best {x} [of all |]is {v}[| for me| to me| if you ask me| I think]
when it comes to {xs}, [I like {v} best|I prefer {v}|I choose {v}|{v} wins]
[I think|I would say] {v} is [the best {x}|my favorite {x}|the {x} I like best]
if I had to [choose|pick] [a|one] {x}, [it would be|I would take|I would choose|I would pick] {v}
the {x} for me is {v}
my {x} of choice is {v}
I am [a fan|a great fan|fond] of {v}, it is my favorite {x}
""")
FAVORITE_QUESTIONS = _asks("""
what is my [favorite|favourite|preferred] {x}
[what's|whats] my [favorite|favourite] {x}
which {x} is my [favorite|favourite]
[which|what] {x} do I [like best|like most|like the most|prefer|love most|love|favor]
do you [remember|know|recall|still know] [my favorite {x}|my favourite {x}|which {x} I like best|what {x} I like most]
can you [tell me|say|repeat|remember] [my favorite {x}|which {x} I like best]
[tell me|say|repeat|remind me of|name] my [favorite|favourite] {x}
[tell me|say] [which|what] {x} I [like best|like most|prefer]
what did I say my favorite {x} [is|was]
the {x} I like best
my [favorite|favourite] {x}
[which|what] {x} did I say I [like best|like most|prefer]
[which|what] {x} [would I choose|would I pick|is the best for me]
what is the {x} [I like best|I like most|that I prefer|of my choice]
I forgot my favorite {x}, what is it
what {x} am I fond of
""",
    "my favorite {x}|my favourite {x}|the {x} I like best|the {x} I prefer|the {x} I like most|the best {x} for me",
    "what my favorite {x} is|which {x} I like best|what {x} I like most|which {x} I prefer|which {x} is my favorite|what {x} I love")
CITY_STATEMENTS = _patterns("""
[I pay rent|I own a house|I rent a flat|I grew up and live] in {v}
my family and I live in {v}
my [street|office|garden] is in {v}, where I live
[life|living] in {v} is good, it is my city
I call {v} my home
the city of {v} is [my home|where I live]
I live in {v}
I am living in {v}
I'm living in {v}
I [have lived|live|have been living] in {v} [for years|since last year|all my life|now|with my family]
my home is [in |]{v}
I [moved|have moved|just moved] to {v}
my [city|town|home town|hometown] is {v}
the [city|town|place] I live in is {v}
the [city|town|place] where I live is [called |]{v}
my [house|flat|apartment|place] is in {v}
I am at home in {v}
{v} is [where I live|my home|my city|the city I live in|the town I live in]
I [reside|stay|settled] in {v}
I am from {v}
I'm from {v}
I come from {v}
we live in {v}
it rains in {v}, where I live
""")
CITY_QUESTIONS = _asks("""
where do I live
where am I living
[what|which] [city|town|place] do I live in
in [what|which] [city|town|place] do I live
where is my [home|house|flat|apartment|place]
what is my [city|town|home town|hometown]
do you [know|remember|recall|still know] [where I live|my city|which city I live in|where my home is]
can you [tell me|say|remember] [where I live|which city I live in|my city]
[tell me|say|repeat] [where I live|my city|the city I live in]
where did I say [I live|my home is]
where am I [from|at home]
where do I come from
what is the [name of the |]city I live in
the city where I live
[what|which] city is my home
where have I moved
""",
    "my city|my home town|the city I live in|the place where I live|the town I live in|my home|the name of my city",
    "where I live|which city I live in|what city I live in|where my home is|where I come from|in which town I live|where I am from")
AGE_STATEMENTS = _patterns("""
I [will stay|stay] {v} [until my next birthday|for a while]
[my years are|in years, I am|in years I count] {v}
people do not believe that I am {v}
[already|only|just] {v} years old, that is me
I [feel young|feel old] at {v}
there were {v} candles on my cake
now I am {v}, last year I was younger
I am {v} years old
I'm {v} years old
I am {v}[| now| already]
my age is {v}
I [just |]turned {v}[| last week| yesterday| years old]
I [have |]reached the age of {v}
I am [a person of|aged] {v}[| years]
I [celebrated|had] my birthday and am {v} now
at {v} years of age, I still learn
I have been alive for {v} years
I was born {v} years ago
{v} is my age
I am {v} of age
""")
AGE_QUESTIONS = _asks("""
how old am I
what is my age
[what's|whats] my age
do you [know|remember|recall] [how old I am|my age]
can you [tell me|say|remember] [how old I am|my age]
[tell me|say|repeat] [my age|how old I am]
how many years old am I
how old did I say I am
what age am I
what age did I [tell you|say]
my age
how many years have I lived
at what age am I
I forgot how old I am
""",
    "my age|the age I have|my years|the age I told you",
    "how old I am|what my age is|how many years I have|what age I am|at what age I am")
JOB_STATEMENTS = _patterns("""
my work is that of a {v}, I like it
[people|they] know me as the {v} of the town
I [found|have] work as a {v}
[since May|for ten years|for a long time] I have worked as a {v}
I do the job of a {v}
as a {v} I [work a lot|have long days|earn enough|travel a lot]
I make money as a {v}
[being|life as] a {v} is my job
I am a {v}
I'm a {v}
I work as a {v}
I am working as a {v}
my [job|work|profession|occupation|trade] is {v}
I [earn my money|make a living|make my living] as a {v}
by profession I am a {v}
I have a job as a {v}
they [employ|hired|pay] me as a {v}
I [became|have been] a {v}[| years ago| for years]
I am employed as a {v}
at work I am a {v}
for a living I work as a {v}
I trained as a {v} and work as one
""")
JOB_QUESTIONS = _asks("""
what is my [job|profession|occupation|work|trade]
[what's|whats] my [job|profession]
what do I do for a living
what do I do [|for work|at work|as a job]
what do I work as
as what do I work
[which|what] job do I have
how do I [earn my money|make a living|make my living]
do you [know|remember|recall] [my job|what I do for a living|my profession|what I work as]
can you [tell me|say|remember] [my job|what I work as|what I do for a living]
[tell me|say|repeat] [my job|my profession|what I work as]
what did I say my job is
my [job|profession]
what am I by profession
""",
    "my job|my profession|my occupation|my trade|the work I do|the job I have",
    "what my job is|what I do for a living|what I work as|which job I have|what my profession is|what I do at work|how I earn my money")
MONTH_STATEMENTS = _patterns("""
they celebrate my birthday in {v}
my birthday [party |]is [always |]in {v}
[mark|note] {v} as [my birth month|the month of my birthday]
{v} is a special month, [it is my birthday|my birthday is then]
I came [into the world|to life] in {v}
every {v} [I have|we celebrate] my birthday
[cards|presents|gifts] come in {v}, [as it is my birthday|for my birthday]
I am a {v} child, born in that month
my mother had me in {v}
my birthday is in {v}
I was born in {v}
I have my birthday in {v}
I celebrate my birthday in {v}
my birth month is {v}
the month of my birth is {v}
my birthday [comes|falls|lies] in {v}
{v} is [my birth month|the month of my birthday|when I was born]
I [turn|get] a year older in {v}
in {v} I have my birthday
in {v} [we|I] celebrate my birthday
""")
MONTH_QUESTIONS = _asks("""
when is my birthday
[which|what] month is my birthday in
in [which|what] month [is my birthday|was I born|do I celebrate my birthday]
[which|what] month was I born in
when was I born
what is my birth month
when do I [have|celebrate] my birthday
do you [know|remember|recall] [when my birthday is|my birth month|the month of my birthday]
can you [tell me|say|remember] [when my birthday is|my birth month]
[tell me|say] [my birth month|when my birthday is|the month of my birthday]
my birth month
when do I turn a year older
""",
    "my birth month|the month of my birthday|the month I was born in|the month of my birth|my birthday's month",
    "when my birthday is|when I was born|in which month my birthday is|which month I was born in|when I have my birthday|what my birth month is")
NUMBER_STATEMENTS = _patterns("""
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
NUMBER_QUESTIONS = _asks("""
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
WORD_STATEMENTS = _patterns("""
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
WORD_QUESTIONS = _asks("""
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
PLACE_STATEMENTS = _patterns("""
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
PLACE_QUESTIONS = _asks("""
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
OTHER_STATEMENTS = _patterns("""
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
OTHER_QUESTIONS = _asks("""
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
