"""All that Pocket knows: fixed answers, many ways to ask."""

from corpus.facts_commands import COMMANDS
from corpus.facts_pocket import POCKET
from corpus.facts_samovar import SAMOVAR

FACTS = POCKET + SAMOVAR + COMMANDS
