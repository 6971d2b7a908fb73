#include "bench/machine_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "base/size_text.h"

namespace samovar::bench {
namespace {

// The value of the first line "key : value" of a file of the system.
std::string value_in(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

}  // namespace

Facts machine_facts() {
  Facts facts;
  const std::string processor = value_in("/proc/cpuinfo", "model name");
  if (!processor.empty()) facts.emplace_back("processor", processor);
  if (const long cores = ::sysconf(_SC_NPROCESSORS_ONLN); cores > 0) {
    facts.emplace_back("cores", fmt::format("{}", cores));
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) {
    facts.emplace_back("memory", format_bytes(static_cast<std::uint64_t>(pages) *
                                              static_cast<std::uint64_t>(page)));
  }
  utsname system = {};
  if (::uname(&system) == 0) {
    facts.emplace_back("system",
                       fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  }
  return facts;
}

std::string date_text(std::int64_t wall_seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(wall_seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

}  // namespace samovar::bench
