"""The conversations that Pocket learns from, made from seeded templates.

words     names, numbers and other values, and where new ones come from
phrases   the small pattern language that the templates are written in
recall    what users tell about themselves and ask for later; its patterns are in wordings
facts     what Pocket is, and what Samovar is and does
school    sums, capitals, opposites, counting, copying
smalltalk greetings and the rest of what people say to a chat window
tools     the one tool that Pocket can call
session   puts exchanges together into a conversation of a wanted length
render    a conversation as the chat template writes it
"""
