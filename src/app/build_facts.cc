#include "app/build_facts.h"

#include <fmt/format.h>

#include "app/version.h"

namespace samovar::app {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

bench::Facts build_facts() {
  return {{"samovar", fmt::format("{}, {}, {}", kVersion, SAMOVAR_BUILD_TYPE, kCompiler)},
          {"engine", SAMOVAR_LLAMA_VERSION}};
}

}  // namespace samovar::app
