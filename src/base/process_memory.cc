#include "base/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace samovar {

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t whole = 0;
  std::uint64_t resident = 0;
  const long page = sysconf(_SC_PAGESIZE);
  if (file >> whole >> resident && page > 0) return resident * static_cast<std::uint64_t>(page);
#ifdef __APPLE__
  // No such file: the most it ever was.
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) return static_cast<std::uint64_t>(usage.ru_maxrss);
#endif
  return 0;
}

}  // namespace samovar
