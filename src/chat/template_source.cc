#include "chat/template_source.h"

#include <ctime>
#include <string_view>

namespace samovar {
namespace {

std::string_view midnight(char directive) {
  switch (directive) {
    case 'H':
    case 'k':
    case 'M':
    case 'S':
      return "00";
    case 'I':
    case 'l':
      return "12";
    case 'f':
      return "000000";
    case 'p':
      return "AM";
    case 'R':
      return "00:00";
    case 'T':
    case 'X':
      return "00:00:00";
    case 'r':
      return "12:00:00 AM";
    case 's':
      return "0";
    case 'c':
      return "%a %b %e 00:00:00 %Y";
    default:
      return {};
  }
}

std::string freeze_format(std::string_view format) {
  std::string frozen;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      frozen += format[at];
      continue;
    }
    const char directive = format[++at];
    const std::string_view fixed = midnight(directive);
    if (fixed.empty()) {
      frozen += {'%', directive};
    } else {
      frozen += fixed;
    }
  }
  return frozen;
}

}  // namespace

std::string freeze_time_of_day(const std::string& source) {
  constexpr std::string_view kCall = "strftime_now(";
  std::string result;
  std::size_t done = 0;
  for (;;) {
    const std::size_t call = source.find(kCall, done);
    if (call == std::string::npos) break;
    const std::size_t open = source.find_first_not_of(" \t\n", call + kCall.size());
    if (open == std::string::npos) break;
    const std::size_t close = source[open] == '"' || source[open] == '\''
                                  ? source.find(source[open], open + 1)
                                  : std::string::npos;
    const std::size_t stop = close == std::string::npos ? open : close;
    result.append(source, done, open - done);
    if (close != std::string::npos) {
      result += source[open];
      result += freeze_format(std::string_view(source).substr(open + 1, close - open - 1));
    }
    done = stop;
  }
  return result.append(source, done);
}

std::string local_date(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

}  // namespace samovar
