#include "app/wrap.h"

#include <sstream>

namespace samovar::app {

std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (!result.empty() && column + 1 + word.size() > kTextWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace samovar::app
