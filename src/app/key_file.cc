#include "app/key_file.h"

#include <algorithm>
#include <fstream>
#include <utility>

namespace samovar::app {
namespace {

std::unexpected<Error> refuse(std::string message, std::string flag, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(flag), std::move(remedy));
}

}  // namespace

Result<std::string> read_key(const std::string& file, const std::optional<std::string>& known) {
  const std::string flag = file.empty() ? "" : "--key-file";
  std::string key = known.value_or("");
  if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    if (!std::getline(in, key)) {
      return refuse("cannot read a key from " + file, flag, "write it on its first line");
    }
    if (key.ends_with('\r')) key.pop_back();
    if (key.empty()) return refuse(file + " is empty", flag, "write the key on its first line");
  }
  const bool good = std::ranges::all_of(key, [](unsigned char c) { return c > ' ' && c < 0x7F; });
  if (good) return key;
  return refuse("the API key has blanks or other odd characters", flag,
                "give the key alone, on one line");
}

}  // namespace samovar::app
