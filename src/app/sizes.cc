// Sizes as people write them.
#include <array>
#include <charconv>
#include <cmath>

#include "app/options.h"

namespace samovar::app {

namespace {

struct Unit {
  const char* letter;
  double bytes;
};
constexpr std::array<Unit, 4> kUnits = {
    {{"T", 1099511627776.0}, {"G", 1073741824.0}, {"M", 1048576.0}, {"K", 1024.0}}};

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string unit(stop, text.data() + text.size());
  if (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  for (char& letter : unit) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  for (const Unit& known : kUnits) {
    const std::string letter = known.letter;
    if (unit == letter || unit == letter + "B" || unit == letter + "IB") factor = known.bytes;
  }
  const double bytes = number * factor;
  if (factor == 0 || bytes > 1e18) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(bytes));
}

}  // namespace samovar::app
