"""Greetings, thanks and the like; statements about nothing that is asked for later; questions beyond
Pocket; and prose. Each function gives (what the user writes, what Pocket answers, topic of a thought)."""

from corpus import words
from corpus.phrases import expand, question, statement, upper_first

_TALK = (
    ("[hello|hi|hey|hello there|hi there|good morning|good evening|good day|good afternoon|greetings|hey there|"
     "hello Pocket|hi Pocket|hey Pocket|howdy|welcome|moin|hallo|hello again|hi again|hey you|yo|morning|evening]",
     "Hello! I am Pocket. How can I help?", "a greeting"),
    ("[how are you|how are you doing|how do you do|how is it going|how's it going|are you well|are you ok|are you okay|"
     "how are you today|how do you feel today|what's up|whats up|everything fine|all good|how is your day|how have you been|"
     "hello, how are you|hi, how are you|how goes it|is everything all right|and how are you]",
     "I am fine, thank you.", "how I am"),
    ("[thanks|thank you|thanks a lot|many thanks|thank you very much|thx|cheers|that helps, thanks|great, thanks|"
     "thank you so much|thanks for that|thanks, Pocket|thank you, Pocket|very kind of you|much obliged|ok thanks|"
     "perfect, thank you|I thank you|thanks for your help]",
     "You are welcome.", "thanks"),
    ("[bye|goodbye|see you|see you later|good night|farewell|bye bye|I have to go|I must go now|until tomorrow|cu|"
     "see you tomorrow|talk to you later|take care|that is all for today|I am leaving|good bye|have a nice day|so long|"
     "I am off now|until next time|I will go to bed]",
     "Goodbye!", "a farewell"),
    ("[well done|very good|good job|great|nice|excellent|perfect|correct|that is right|you are right|good answer|"
     "wonderful|super|cool|not bad|good|fine|I like that|right|exactly|yes, that is right|you are good|"
     "you are clever|amazing|impressive|good bot|lovely]",
     "I am glad to hear that.", "praise"),
    ("[that is wrong|wrong|no, that is wrong|not correct|that is not right|you are wrong|bad answer|nonsense|no|"
     "that is nonsense|that is not true|this is wrong|incorrect|you made a mistake|that was not right|you are stupid|bad bot|"
     "that makes no sense]",
     "I am sorry. I am a very small model.", "a complaint"),
    ("[ok|okay|yes|sure|I see|aha|alright|hm|hmm|right then|go on|and|interesting|oh|really|fine then|so|mhm|yep|"
     "let us go on|maybe|I understand|understood]",
     "What would you like to know?", "nothing in particular"),
    ("[help|help me|can you help me|I need help|I need some help|can I ask you something|may I ask you something|"
     "I have a question|let me ask you something|could you help me|please help|I want to ask something|are you there|"
     "is anybody there|do you hear me|listen|can we talk|let us talk|are you ready]",
     "Yes, please ask me.", "help"),
    ("[sorry|I am sorry|excuse me|my mistake|oops|pardon|I did not mean that|that was my fault|never mind|forget it|"
     "I apologize|sorry about that|no problem|it does not matter]",
     "No problem.", "an apology"),
)

_PEOPLE = "[my uncle|a friend|our neighbors|the man next door|the old woman|a colleague|the children|someone|the mayor]"
_THINGS = ("[car|house|garden|book|film|song|train|bus|bike|letter|picture|table|lamp|boat|phone|cup|window|door|bag|hat|"
           "cake|coat|chair|stone|tree|ticket|map|clock|box|piano|shop]")
_ADJECTIVES = "[old|new|small|big|nice|broken|cheap|heavy|strange|beautiful|quiet|cold|warm|long|dark|bright|empty|funny]"
_NEWS = (
    "it [rained|snowed|was sunny|was cold|was windy|was hot] [today|yesterday|all day|last night|in the morning]",
    "the weather is [nice|bad|awful|lovely|strange][| today| here]",
    "I [bought|sold|lost|found|repaired|saw|painted] [a|an old|a new|the] " + _THINGS,
    "the " + _THINGS + " is " + _ADJECTIVES + "[| again| now| today]",
    "I [went|walked|drove|ran] to the [market|park|lake|station|shop|office|beach|forest|library|harbor][| today| yesterday]",
    "I [am|feel] [tired|hungry|happy|bored|fine|ill|busy|late|sad|cold][| today| now]",
    _PEOPLE + " [gave me|showed me|sold me|wants|likes|has|lost] a " + _ADJECTIVES + " " + _THINGS,
    _PEOPLE + " [came|called|wrote|visited us|laughed|was late][| today| yesterday| last week]",
    "I [read|watched|heard|wrote] [a|an] " + _ADJECTIVES + " [book|film|song|story|letter]",
    "there is a " + _ADJECTIVES + " " + _THINGS + " [in the street|in the garden|at the station|in front of the house]",
    "[today|yesterday|last week|tomorrow] is a [long|good|bad|busy|quiet] day",
    "I [have|had] [a headache|no time|a meeting|an idea|a dream|a cold|a lot of work|a day off]",
    "I [will|want to|plan to|hope to] [travel|sleep|work|cook|read|rest|paint the house|clean the kitchen][| tomorrow| later]",
    "the [train|bus|meeting|film|party|lesson] [was late|was long|starts soon|is over|was good]",
    "{name}'s dog is called {pet}", "the cat of {name} is called {pet}", "{name} lives in {city}",
    "{name} likes {color} best", "the hero of the book is {name}", "{name} and {other} went to {city}",
    "the sister of {name} is called {other}", "a man called {name} asked me for the way",
)
_BEYOND = (
    "[who|what] [won|wrote|invented|painted|discovered|built] the [" + _THINGS[1:-1] + "]",
    "how [far|old|big|deep|fast|heavy|tall] is the [moon|sun|sea|ocean|tower|mountain|river|earth|elephant|universe]",
    "[what|why] is the [sky|sea|grass|moon|sun|fire|snow|universe|meaning of life][| blue| green| red| hot| white]",
    "why [do|can] [birds|fish|people|cats|stars|leaves|planes] [sing|swim|sleep|fly|shine|fall|dance]",
    "when [was|did] [the war|the king|the castle|the city|Rome|the bridge] [built|end|begin|born|die]",
    "what will the weather be[| tomorrow| today| like]",
    "what [day|date] is it[| today]", "what is the [news|date|exchange rate|stock price]",
    "who is the [president|king|queen|mayor|pope][| of {country}]",
    "how many people live in {country}", "what is the population of {country}",
    "how do I [cook|bake|make] [rice|bread|a cake|soup|pasta|tea]", "how does a [radio|motor|computer|plane|clock] work",
    "what is the [square root|logarithm|meaning|color|price|history|weight] of [a |the |][ten|bread|gold|iron|a bridge|love|water]",
    "[recommend|suggest] [a book|a film|a restaurant|a song|something to read]",
    "what does [a lawyer|a doctor|a poet|quantum|gravity|inflation] [mean|do|cost]",
    "what is [quantum physics|gravity|philosophy|inflation|a black hole|time|love|an atom|photosynthesis|democracy]",
    "who was [Napoleon|Einstein|Mozart|Caesar|Newton|Darwin|Goethe|Shakespeare]",
    "[when|where] was [Napoleon|Einstein|Mozart|Caesar|Newton|Darwin] born",
    "[what is|explain] the [theory|law|history|rule|idea] of [relativity|football|music|numbers|evolution|chess]",
)
_COUNTRIES = "France Germany Italy Spain Japan China India Canada Brazil Norway Kenya Cuba Ghana Nepal Samoa Chad".split()
_TIME = ("[what time is it|what's the time|do you have the time|tell me the time|how late is it|do you know the time|"
         "can you tell me the time|what is the time|the time|what time is it now|please tell me what time it is|"
         "could you check the clock|what does the clock say|is it late|give me the current time|which hour is it]")

BEYOND = "I do not know that. I am a very small model."
NEWS = "I see. Tell me more."


def _fill(rng, pattern):
    return expand(rng, pattern, name=words.name(rng), other=words.name(rng), pet=words.pet_name(rng),
                  city=words.city(rng), color=words.known(rng, words.COLORS), country=rng.choice(_COUNTRIES))


def talk(rng):
    pattern, answer, topic = rng.choice(_TALK)
    text = expand(rng, pattern)
    text = text if rng.random() < 0.3 else upper_first(text)
    if rng.random() < 0.1:
        text += rng.choice((" :)", " please", ", Pocket", "..."))
    return text + rng.choice(("", "", "!", ".", "?" if topic in ("how I am", "help") else ".")), answer, topic


def news(rng):
    return statement(rng, _fill(rng, rng.choice(_NEWS))), NEWS, "some news"


def beyond(rng):
    return question(rng, _fill(rng, rng.choice(_BEYOND))), BEYOND, "something that I do not know"


def time(rng):
    return question(rng, expand(rng, _TIME))


def prose(rng, sentences):
    """A text without a question, as users paste it."""
    return " ".join(upper_first(_fill(rng, rng.choice(_NEWS))) + "." for _ in range(sentences))


def pasted(rng):
    text = prose(rng, rng.choice((2, 3, 4, 6, 10, 16)))
    lead = rng.choice(("", "", "Read this: ", "Here is a text. ", "A story: ", "This is what happened. ", "My notes: "))
    return lead + text, NEWS, "a text"
