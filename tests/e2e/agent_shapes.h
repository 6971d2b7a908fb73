// The shapes of what two coding agents send over POST /v1/chat/completions: how their system
// prompts, tools and messages are built, and in what they differ from request to request. No words
// of theirs: the text is made up, the places and sizes are real. Pure.
#pragma once

#include <string>

#include "tests/e2e/chat_client.h"

namespace samovar::testing {

// The first `count` of 20 tools, an agent's own and those of two tool servers, with `words` in each
// description: 20 of 240 words are about 8,000 tokens. Arguments are what a model that knows
// nothing can fill in: numbers, a flag, a nested object.
Json agent_tools(int count, int words);

// As an agent gets them when its tool servers answer in another order after a restart.
Json tools_in_another_order(const Json& tools);

// What Claude Code puts first: a stamp that differs with every request.
std::string billing_stamp(int request);

// <env>: folder, platform, date. Constant for a session.
std::string environment_block();

// A git status as it was when the session began, or as it is after `edits` of the agent.
std::string git_status(int edits);

// Text between the tags that clients put around what they tell the model in the user's name.
std::string reminder(const std::string& text);

// Sampling under which a model with random weights replies like an agent: some words of thought,
// the end of the thought, some words of answer, and then a call, or the end.
// Words are preferred, and used up by the penalties; so what is less preferred comes later. Nothing
// of it is part of the prompt.
Json sampling_of_a_reply(bool calls, unsigned seed);

// Arguments as another JSON library writes them: other spaces, keys in another order, and whole
// numbers with a fraction of zero where it can be said exactly.
std::string written_anew(const std::string& arguments);

}  // namespace samovar::testing
