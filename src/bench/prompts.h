// What is asked: conversations made of plain words by a seeded generator, so that every run of the
// same seed sends the same bytes to every target, and no two conversations begin alike: nothing can
// be found in a cache that was not put there by a run of the same seed. A Conversation is a value
// with one owner; bodies are JSON of POST /v1/chat/completions.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace samovar::bench {

struct Message {
  std::string role;
  std::string content;
  friend bool operator==(const Message&, const Message&) = default;
};

// `count` words, the same for the same seed.
[[nodiscard]] std::string prose(std::int64_t count, std::uint64_t seed);

// How many tokens the model makes of words; Runner measures it.
struct WordCost {
  double tokens_per_word = 1.5;
  double tokens_per_message = 8;  // what the template puts around one
};

// A history of about `tokens` tokens in messages of about `message_tokens`: system, user, assistant
// in turn, a user's question last. It begins with words that no other seed has.
[[nodiscard]] std::vector<Message> make_history(std::int64_t tokens, std::int64_t message_tokens,
                                                std::uint64_t seed, const WordCost& cost);

struct BodySettings {
  std::int64_t max_tokens = 8;
  bool ignore_eos = true;
  std::string model;               // empty: the field is left out
  std::string extra;               // JSON object whose members are added; empty: none
  std::set<std::string> left_out;  // fields that the server refused
};

// Greedy, streamed, with usage.
[[nodiscard]] std::string chat_body(const std::vector<Message>& messages,
                                    const BodySettings& settings);

// Of the fields that servers may not know, the one that a refusal's text names, if it is not left
// out yet; nullopt: none.
[[nodiscard]] std::optional<std::string> refused_field(int status, const std::string& error,
                                                       const BodySettings& settings);

// A seed that depends on all of its parts.
[[nodiscard]] std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t a, std::uint64_t b);

}  // namespace samovar::bench
