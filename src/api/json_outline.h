// JsonOutline: one pass over a request body before anything parses it. It bounds what parsing may
// cost and finds where each message stands, so that messages seen before need not be parsed again
// (message_memo.h). It does not validate: for text that is no JSON what it finds is meaningless,
// and whoever uses it must parse the rest and every element with a real parser. Views into the
// body. Pure function; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samovar {

struct JsonOutline {
  // The body has one member of the name asked for at its top, an array of objects, and nothing that
  // could make that doubtful. Only then the rest means anything.
  bool has_messages = false;
  std::size_t messages_begin = 0;  // of what stands between the brackets
  std::size_t messages_end = 0;
  std::vector<std::string_view> messages;  // from "{" to "}"
};

// Errors: invalid_argument if it nests too deep or an object has too many members (base/limits.h),
// because two costs of parsing grow out of proportion with hostile input: writing out a deeply
// nested value recurses, and an ordered object is searched from its start for every member added.
[[nodiscard]] Result<JsonOutline> outline_json(std::string_view body,
                                               std::string_view member = "messages");

}  // namespace samovar
