// Utf8Repair: turns a stream of bytes into valid UTF-8. A character split over two pieces waits for
// its rest; bytes that can never become a character are replaced by U+FFFD (one for each maximal
// invalid run, as browsers do). A value; one per stream. Cannot fail.
#pragma once

#include <string>
#include <string_view>

namespace samovar {

class Utf8Repair {
 public:
  // Returns everything that is certain so far: whole characters only.
  std::string push(std::string_view bytes);

  // The stream is over: an unfinished character becomes U+FFFD.
  std::string finish();

 private:
  std::string pending_;  // a proper prefix of a character, at most 3 bytes
};

}  // namespace samovar
