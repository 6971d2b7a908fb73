"""More wordings, for the last stages: values and subjects in places where the usual ones do not have them.

By family: (statements, questions). {v}, {x} and the like as in wordings_people.py.
"""

from corpus.asking import patterns

_NAMES = patterns("""
[at|in] [the park|the market|the kitchen|school|the station] [you can see|stands|waits|I met] my {x}, whose name is {v}
[every|each] [evening|night|week|summer] I [cook|sing|read|swim|cycle] with my {x}, {v} by name
beside me sits [a|the] {x} [called|named] {v}
[I grew up with|I share a room with|I was helped by|I look after|I take care of] my {x} {v}
without my {x} {v} [life would be dull|I would be lost|nothing works]
{v} [and I are close|is dear to me|means a lot to me], [being|as] my {x}
{v} and I: [that is|meaning] my {x} and I
the {x} [who lives with me|I see each day|I trust|I know best] is [called|named] {v}
a {x} named {v} [lives with us|waits for me|belongs to my life|is with me]
[my uncle|my grandfather|somebody|the neighbors] [named|call|called] my {x} {v}
[nobody|no one] [knows me better than|is as kind as|laughs like] my {x} {v}
[be nice to|wave at|think of|wait for|listen to] {v}, [she is|he is|that is] my {x}
with {v}, my {x}, I [share everything|laugh a lot|travel]
[where I live|in our house|at home] there is a {x}, {v} is [her|his|the] name
for my {x} [we|they] found the name {v}
""")
_ASK_NAMES = patterns("""
[the|that] {x} [who lives with me|I see each day|I look after|I share a room with], what is [he|she|it] called
[give|hand] me the name [that|which] my {x} has
[please |]name my {x}
a name, please: that of my {x}
the {x} I [see each day|look after|grew up with], what [is the name|name is it]
[who|what] [lives with us|waits for me] as my {x}, by name
[do you have|is there|have you got] [the|a] name [of|for] my {x} [in mind|somewhere|in your memory]
what word do [they|we] use for my {x}
one word: [the name of my {x}|my {x}'s name]
[how|what] [did my uncle|did they|did somebody] [name|call] my {x}
which name goes with my {x}
""")
_SELF = patterns("""
[good to meet you|glad to be here|it is nice to be here|what a day], [I am|my name is|they call me] {v}
[I was|I have been] [given the name|baptised] {v}
[everybody|nobody] [here|at work|at school] calls me [anything but |]{v}
[in|on] my passport stands {v}
the name on my [door|desk|letters|cup] is {v}
{v} is [what they call me|how they call me|who I am|the name my parents chose for me]
you [have|are in touch with|hear from] {v} [today|now]
[write|put] {v} [on the list|in your book], that is me
""")
_ASK_SELF = patterns("""
[which|what] name [is on my door|is in my passport|did my parents choose for me]
[how|what] [would|will] you [call me|name me]
what name [would|will] you [give|write for] me
[which|what] [name|word] do you use [when you talk to me|for me]
[is there|do you have] a name for me
[hello, |]who is [here|speaking|it]
whose [words|messages] are these, by name
""")
_FAVORITES = patterns("""
[nothing|not much] makes me [as happy as|smile like|happier than] {v}, [my favorite|the favorite] {x}
[give|bring|show|offer] me {v} [any day|any time|and I smile], [it is my favorite {x}|no {x} is better]
[I could have|I think of|I dream of|I talk about|I never get enough of] {v} [all day|all the time|every day], [the {x} I love|my favorite {x}|it is my favorite {x}]
[at the party|on holidays|on Sundays|with friends] it is [always |]{v}, [the {x} of my heart|my favorite {x}]
I [rarely|hardly ever] [refuse|miss|leave] {v}, the {x} [that I like most|I like best]
a {v} [is|would be] [a {x} that I love|the {x} of my dreams], my favorite
the {v} is [a|the] {x} [that I love|that I prefer|dear to me], my [very |]favorite
[there is|I know] no {x} [I enjoy|I want|that suits me] more than {v}
[I enjoy|I choose|I go for|I want] {v}, [there is|I know] no better {x}
[the {x} that makes me smile|the {x} which I want most|the one {x} for me], my favorite, is {v}
[my friends like others, but|others may differ, yet] {v} is [the {x} I like best|my favorite {x}]
[among|of] [all |]{xs} [it is|I take|there is only] {v} for me
""")
_ASK_FAVORITES = patterns("""
[nothing makes me as happy as|I never get enough of] which {x}, my favorite
to [which|what] {x} do I [say yes|come back] [always|most], as my favorite
[which|what] {x} [makes me smile|is dear to me|do I dream of|do I never refuse|suits me most], being my favorite
[which|what] [one |]of all {xs} is my favorite
[among|of] all {xs}, [which|what] [one |]is my favorite
[what|which {x}] [should you bring me|would you bring me|must be at my party], [my favorite|if it is my favorite]
there is no {x} I [enjoy|want|love] more than which
[guess|name] the {x} [that I prefer|of my heart|of my dreams]
""")
_CITY = patterns("""
[every morning I wake up|my bed stands|I pay my taxes|my children go to school|I spend my days] in {v}[, my city|, where I live|]
[if you visit me|to see me], [come|you must come|take a train] to {v}
[you can|people] [meet|visit|find] me [at home |]in {v}, where I live
the [streets|houses|parks] of {v} [are my home|surround me], I live there
[no city but|only] {v} is home to me
[born elsewhere|after years elsewhere], I live in {v}
""")
_ASK_CITY = patterns("""
[in which city|where] do I [wake up|pay my taxes|spend my days]
[in which|which] [city|town] [would|do] [you|people] [visit|meet] me at home
[to which|which] city [must you come|must you travel] to [see|visit] me
[the streets of|home to me is] which city
where [would|do] you [visit me|find my home|look for my home]
""")
_AGE = patterns("""
[my last|my latest|this year's] birthday [brought me to|was my number|made me] {v}
[I count|I have seen|behind me lie] {v} [years|summers]
[with|at] {v} [years |]I am [not young|not old|old enough]
[it is|that makes] {v} years [that I live|since my birth]
[my age, |]{v}, [is no secret|is just a number], I am that old
""")
_ASK_AGE = patterns("""
[after|since] my [last|latest] birthday, [what is my age|how many years do I count]
how many [summers|birthdays] [have I seen|have I had|lie behind me]
[what number|which number] is my age
[guess|count] my years
""")
_JOB = patterns("""
[every morning|each day|on weekdays] I [leave the house|get up|put on my shoes] [to work|for my work] as a {v}
[what I do all day|how I pay my rent]: I am a {v}
[my card|the sign on my door] says {v}, that is my job
[they|people] [need|call|ask for] me [as|when they need] a {v}, [that is my job|it is my work]
[once I wanted to be a king, but|in the end] I [became|work as] a {v}
""")
_ASK_JOB = patterns("""
[every morning|each day|on weekdays] I work as what
as what do I [leave the house|get up|go to work] [each day|every morning]
[how|with what work] do I pay my rent
what [stands|is written] on my card as my job
[which|what] work [do people need me for|fills my day]
""")
_MONTH = patterns("""
[cake and candles|my party|the day I was born] [come|comes|falls] [each|every] {v}[, my birth month|]
{v} [brings|has|holds] my birthday
[look at|think of] {v}: [my birthday is then|then I was born]
[of twelve months|of all months], {v} is [the one of my birthday|when I was born|the one in which I was born]
{v} is [a month to celebrate|the time], [for |]I was born then
""")
_ASK_MONTH = patterns("""
[of twelve months|of all months], [which|what] is [the one of my birthday|my birth month]
[which|what] month [brings|has|holds] my birthday
[what|which] is the [month|time] [to celebrate my birthday|in which I was born]
[when|in which month] do [cake and candles|the guests] come for my birthday
""")
_NUMBER = patterns("""
[tonight|this week|until Friday] {x} {v} is [mine|where I belong|what I have]
[to get there|to come home|for the trip] I [need|take|look for] [the |]{x} [with the number|number|with number] {v}
I [wait for|stand at|sit at|sleep in|live in|hold] {x} {v}
[it says|I read] {v} on my {x}
{v} [stands|is printed|is painted] on my {x}
[my {x}, that is|as for my {x}, it is] [number |]{v}
""")
_ASK_NUMBER = patterns("""
[which|what] {x} [is where I belong|do I wait for|do I need|brings me there|belongs to me|do I hold]
[what|which number] [stands|is printed|is painted|do I read] on my {x}
[tonight|this week|until Friday], [which|what] {x} is mine
[in|on|at|with] [which|what] {x} [am I|would you find me]
""")
_WORD = patterns("""
[when they ask|when asked|at the door|if somebody asks], [say|type|whisper|enter] {v}, [it is|that is] the {x}
[type|enter|say|whisper] {v} [when|if|as soon as] [it asks|they ask|somebody asks] for the {x}
our {x} [will|must|has to|should] be {v}
[from now on|until May|for us two] the {x} [shall be|will be|is to be] {v}
{v} [opens the door|lets us in|gets you in], it is the {x}
[nobody else may know|it is a secret]: the {x}, {v}
[without|only with] {v} [nobody gets in|you get in], that is the {x}
""")
_ASK_WORD = patterns("""
what [do I|should I|must I] [say|type|enter|whisper] [when|if] [it asks|they ask|somebody asks] for the {x}
what did we [decide|agree] the {x} [shall|will|must|should] be
what [shall|will|must] our {x} be
[which word|what] [opens the door|lets us in|gets me in] as the {x}
[without|only with] which {x} [do I get in|nobody gets in]
""")
_PLACE = patterns("""
[be careful with|watch out for|do not sit on|somebody may break] my {x}, {it} {be} {v}
the {x} [that belong to me|that I use|I need] {be} [now |still |]{v}
[in the end|after a long search|at last] I saw my {x} {v}
[take|fetch|bring] my {x}, {it} {be} {v}
[by mistake|in a hurry|last night] my {x} ended up {v}
[the cat sleeps|it is dark|it is warm] {v}, and there {be} my {x}
""")
_ASK_PLACE = patterns("""
the {x} [that I use|I need], where {be} {it}
where [must|shall] [I|you|we] [look|search] for my {x}
where did my {x} end up
[to fetch|to get] my {x}, where [do I|must I|should you] go
in [what|which] corner {be} my {x}
[who moved my {x}|my {x} {be} gone], where {be} {it}
""")
_OTHER = patterns("""
[they|we] [settled on|decided on|picked] {v} as my {x}
[you may|please] [write|put down] {v} for my {x}
[it is|that is] {v}, [I mean|talking of] my {x}
""")
_ASK_OTHER = patterns("""
what [did we settle on|is written down] for my {x}
[talking of|as to] my {x}, [which one is it|what is it]
""")

FURTHER = {"name": (_NAMES, _ASK_NAMES), "self": (_SELF, _ASK_SELF), "favorite": (_FAVORITES, _ASK_FAVORITES),
           "city": (_CITY, _ASK_CITY), "age": (_AGE, _ASK_AGE), "job": (_JOB, _ASK_JOB), "month": (_MONTH, _ASK_MONTH),
           "number": (_NUMBER, _ASK_NUMBER), "word": (_WORD, _ASK_WORD), "place": (_PLACE, _ASK_PLACE),
           "other": (_OTHER, _ASK_OTHER)}
