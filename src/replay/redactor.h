// Redactor: takes the words out of a trace and leaves its shape. Every piece of text becomes
// meaningless words, chosen by a keyed hash of the piece and all of the text before it: equal texts
// stay equal, texts that begin alike go on beginning alike up to where they part, and the number of
// tokens stays about what it was. A word has no fixed translation, so a text that is known with its
// redacted form (a public system prompt) tells nothing of others. Names of tools, keys of
// arguments, ids and numbers are hashed as well; names and keys may be kept. Roles, types of
// schemas, times and figures stay. A value; const calls from any thread.
//
// What is said with a key can be guessed by who has the key: use one that is thrown away, unless
// two traces must be comparable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/trace.h"

namespace samovar::replay {

struct RedactOptions {
  std::string key;          // of the hash; any bytes
  bool keep_names = false;  // of tools, and keys of arguments
};

class Redactor {
 public:
  explicit Redactor(RedactOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Trace trace(Trace trace) const;
  [[nodiscard]] TraceTurn turn(TraceTurn turn) const;

  [[nodiscard]] std::string text(std::string_view text) const;
  [[nodiscard]] std::string name(std::string_view name) const;
  [[nodiscard]] std::string arguments(const std::string& json) const;  // of a call
  [[nodiscard]] std::string schema(const std::string& json) const;     // of a tool's parameters

  // Numbers of a text, for whoever redacts further kinds of values.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::string_view text, std::size_t count) const;

 private:
  [[nodiscard]] std::string id(std::string_view prefix, const std::string& id) const;
  [[nodiscard]] ChatMessage message(ChatMessage message) const;
  [[nodiscard]] TraceSettings settings(TraceSettings settings) const;

  RedactOptions options_;
};

}  // namespace samovar::replay
