// What kind of place in a conversation an anchor is at. The numbers are those of the store's file
// format: they never change their meaning.
#pragma once

#include <cstdint>

namespace samovar {

enum class AnchorKind : std::uint8_t {
  system = 1,       // the end of system prompt and tools
  message = 2,      // a message's start
  grid = 3,         // under a long prefill, or where one was interrupted
  history_end = 4,  // before the generation primer
  reply_end = 5,    // after the last token of a reply that was forwarded
  divergence = 6,   // before a region that was seen to change between turns
};

// The largest number in use, for readers of files.
inline constexpr AnchorKind kLastAnchorKind = AnchorKind::divergence;

[[nodiscard]] const char* to_string(AnchorKind kind);

}  // namespace samovar
