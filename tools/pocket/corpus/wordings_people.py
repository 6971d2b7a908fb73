"""How users name themselves and others, and what they like best. {v} is the value; {x} and the like are
filled by the attribute (recall.py).
"""

from corpus.asking import SCENES, asks, patterns

NAME_STATEMENTS = patterns("""
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
my {x} {v} """ + SCENES + """
my {x}, {v}, """ + SCENES + """
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
NAME_QUESTIONS = asks("""
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
SELF_STATEMENTS = patterns("""
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
SELF_QUESTIONS = asks("""
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
FAVORITE_STATEMENTS = patterns("""
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
FAVORITE_QUESTIONS = asks("""
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
