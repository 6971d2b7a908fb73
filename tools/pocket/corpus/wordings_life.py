"""How users tell where they live, how old they are, what they work as, when they were born."""

from corpus.asking import asks, patterns

CITY_STATEMENTS = patterns("""
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
CITY_QUESTIONS = asks("""
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
AGE_STATEMENTS = patterns("""
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
AGE_QUESTIONS = asks("""
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
JOB_STATEMENTS = patterns("""
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
JOB_QUESTIONS = asks("""
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
MONTH_STATEMENTS = patterns("""
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
MONTH_QUESTIONS = asks("""
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
