// llama-server's flags that are not options here. A command line that moves over should either work
// or say plainly what is different, so each known one is accepted with a note, or refused with a
// reason. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

namespace samovar::app {

struct ForeignFlag {
  std::vector<std::string> flags;
  enum class Value { none, required, optional } value = Value::none;
  std::string note;                // accepted: why it changes nothing
  std::string refusal;             // refused: what to do instead
  std::string refused_value = {};  // accepted, but for this value: then `refusal` applies
};

// nullptr if it is not one of them.
[[nodiscard]] const ForeignFlag* find_foreign_flag(const std::string& flag);

}  // namespace samovar::app
