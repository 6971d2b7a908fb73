// The program's version; the same as in CMakeLists.txt (a test compares them).
#pragma once

namespace samovar::app {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace samovar::app
