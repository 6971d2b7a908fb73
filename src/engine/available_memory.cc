#include "engine/available_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace samovar {
namespace {

// /proc/meminfo's MemAvailable. Elsewhere than on Linux: physical memory.
std::uint64_t available_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") {
      return kib << 10;
    }
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : 0;
}

std::optional<std::uint64_t> read_number(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) {
    return value;
  }
  return std::nullopt;  // absent, or "max"
}

// A container's own limit, which /proc/meminfo does not know.
std::optional<std::uint64_t> available_in_group() {
  const auto limit = read_number("/sys/fs/cgroup/memory.max");
  const auto used = read_number("/sys/fs/cgroup/memory.current");
  if (!limit || !used) {
    return std::nullopt;
  }
  return *limit > *used ? *limit - *used : 0;
}

}  // namespace

std::uint64_t available_host_memory() {
  const std::uint64_t machine = available_in_machine();
  const auto group = available_in_group();
  return group ? std::min(machine, *group) : machine;
}

}  // namespace samovar
